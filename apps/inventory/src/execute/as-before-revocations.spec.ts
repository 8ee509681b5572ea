import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  agentRevocationKey,
  agentUserKey,
  MusterError,
  type AgentRevocation,
  type AgentUser,
  type NodeRecord,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { Concern } from '../plan/concern.js';
import { connectedUsers, revocationRepair, revocations } from '../plan/agents/revocations.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor, revocationService } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode } from '../testing/records.js';

const names = ['n-1', 'n-2'];
const keys = ['k-1', 'k-2', 'k-3', 'k-4'];
const often = fc.nat(9).map((n) => n > 0);
const seldom = fc.nat(9).map((n) => n === 0);
const anyName = fc.constantFrom(...names);
const anyKey = fc.constantFrom(...keys);
/** Wall clock of revocations and of issued users. */
const anyTime = fc.constantFrom(1_000, 2_000, 3_000);

type Write = (store: MemoryStore) => void;
const settingsIn = (store: MemoryStore) => store.settings as unknown as { set: (k: string, v: unknown) => number };

const nodeWrite = fc
  .record({
    name: anyName,
    gone: seldom,
    enrolled: fc.boolean(),
    named: fc.subarray(keys),
    revokedAt: fc.option(anyTime, { nil: undefined }),
  })
  .map(({ name, gone, enrolled, named, revokedAt }): Write => {
    const node: NodeRecord = aNode(name, {
      enrolled,
      ...(named.length > 0 && { agentKeys: named }),
      ...(revokedAt !== undefined && { revoked: { by: 'ann', at: revokedAt, reason: 'stolen' } }),
    });
    return (store) => void store.nodes.set(name, gone ? undefined : node);
  });

const userWrite = fc
  .record({ key: anyKey, node: anyName, gone: seldom, revoked: seldom })
  .map(({ key, node, gone, revoked }): Write => {
    const user: AgentUser = { key, node, at: 1, ...(revoked && { revoked: 5 }) };
    return (store) => void settingsIn(store).set(agentUserKey(key), gone ? undefined : user);
  });

const revocationWrite = fc.record({ node: anyName, at: anyTime, gone: seldom }).map(({ node, at, gone }): Write => {
  const revocation: AgentRevocation = { node, by: 'bob', at, reason: 'lost' };
  return (store) => void settingsIn(store).set(agentRevocationKey(node), gone ? undefined : revocation);
});

const connectionWrite = fc
  .uniqueArray(fc.record({ key: anyKey, node: anyName, issuedAt: anyTime }), { selector: (c) => c.key, maxLength: 3 })
  .map(
    (agents): Write =>
      (store) =>
        void (store.natsUsers.agents = agents),
  );

const gap = fc
  .record({ nodes: often, settings: often, able: often })
  .map(({ nodes, settings, able }): Write => (store) => {
    store.nodes.live = nodes;
    store.settings.live = settings;
    store.natsUsers.able = able;
  });

const write = fc.oneof(nodeWrite, nodeWrite, userWrite, revocationWrite, connectionWrite, gap);

const history = fc.record({
  first: fc.array(fc.oneof(nodeWrite, userWrite, connectionWrite), { minLength: 4, maxLength: 8 }),
  rounds: fc.array(
    fc.record({
      part: fc.constantFrom('sweep' as const, 'repair' as const),
      writes: fc.array(write, { maxLength: 3 }),
      /** NATS is not reached. */
      fails: seldom,
      /** Comes before the record of a node is read; while there is a sweep no view shows it. */
      meanwhile: fc.option(nodeWrite, { freq: 2, nil: undefined }),
    }),
    { minLength: 4, maxLength: 10 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;
type Part = History['rounds'][number]['part'];
type Play = (part: Part) => Promise<void>;

/** By name; in which order two users of one node were named says nothing. */
const recordsOf = (store: MemoryStore): string => {
  const nodes = Object.values(store.nodes.content).map((n) => ({ ...n, agentKeys: n.agentKeys?.toSorted() }));
  return JSON.stringify([nodes, store.settings.content]);
};

function copyOf(store: MemoryStore): MemoryStore {
  const copy = new MemoryStore();
  // What is read is never older than what the view shows.
  for (let i = 0; i < 1_000; i++) copy.nodes.set('none', undefined);
  for (const [name, node] of Object.entries(store.nodes.content)) copy.nodes.set(name, node);
  return copy;
}

/** What the one who acts has written, and had NATS refuse, after each round. */
async function play({ first, rounds }: History, make: (store: MemoryStore, seen: string[]) => Play): Promise<string[]> {
  const store = new MemoryStore();
  const seen: string[] = [];
  let meanwhile: Write | undefined;
  /** What the view does not show yet. */
  let behind: MemoryStore | undefined;
  const { get } = store.nodes.bucket;
  store.nodes.bucket.get = async (key) => {
    if (behind !== undefined) {
      if (!seen.includes('overtaken')) seen.push('overtaken');
      return behind.nodes.bucket.get(key);
    }
    if (meanwhile !== undefined) seen.push('overtaken');
    meanwhile?.(store);
    meanwhile = undefined;
    return get(key);
  };
  const { revoke, connected } = store.natsUsers;
  const sut = make(store, seen);
  for (const w of first) w(store);
  for (const round of rounds) {
    store.clock.now += 60_000;
    for (const w of round.writes) w(store);
    ({ meanwhile } = round);
    behind = round.part === 'sweep' && meanwhile !== undefined ? copyOf(store) : undefined;
    if (behind !== undefined) meanwhile?.(behind);
    const down = async (): Promise<never> => Promise.reject(new MusterError('BUS_UNAVAILABLE', 'NATS is down'));
    store.natsUsers.revoke = round.fails && round.part === 'sweep' ? down : revoke;
    store.natsUsers.connected = round.fails ? down : connected;
    store.natsUsers.refused = [];
    const was = recordsOf(store);
    await sut(round.part);
    meanwhile = undefined;
    const is = recordsOf(store);
    seen.push(`${round.part} ${was === is ? 'same' : is}`);
    seen.push(`refused ${store.natsUsers.refused.map((r) => r.join('+')).join(' ')}`);
  }
  return seen;
}

const before = (store: MemoryStore, seen: string[]): Play => {
  const sut = revocationService(store);
  return async (part) => {
    if (!store.natsUsers.able || !store.nodes.live || !store.settings.live) return void seen.push('not known');
    try {
      await sut[part](() => undefined);
    } catch (e) {
      seen.push(`failed ${MusterError.from(e).code}`);
    }
  };
};

const planned = (store: MemoryStore, seen: string[]): Play => {
  const executor = planExecutor(store);
  const parts: Record<Part, readonly Concern[]> = { sweep: [revocations], repair: [revocationRepair, connectedUsers] };
  return async (part) => {
    if (!store.natsUsers.able || !store.nodes.live || !store.settings.live) seen.push('not known');
    for (const concern of parts[part])
      await playRun(executor.drive(concern), {
        now: store.clock.now,
        failed: (f) => seen.push(`failed ${(f as { code?: string }).code ?? (f as { err: MusterError }).err.code}`),
      });
  };
};

it('agents are shut out by plans as their reconciler did', async () => {
  const must: Record<string, RegExp> = {
    swept: /^refused k-\d$/,
    together: /^refused k-\d\+k-\d/,
    apart: /^refused .+ k-\d/,
    failed: /^failed BUS/,
    gap: /^not known/,
    overtaken: /^overtaken/,
    kept: /^repair .*agent-revoked=n-\d":\{"node":"n-\d","by":"ann"/,
    adopted: /^repair \[.*agent-user=k-\d":\{"key":"k-\d","node":"n-\d","at":1\d{6}/,
    same: / same$/,
  };
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(history, async (h) => {
      const was = await play(h, before);
      expect(await play(h, planned)).toEqual(was);
      for (const [what, how] of Object.entries(must))
        if (was.some((x) => how.test(x))) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(400) },
  );
  expect(Object.keys(must).filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
}, 300_000);

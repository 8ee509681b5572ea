import { describe, expect, it } from 'vitest';
import {
  agentRevocationKey,
  agentUserKey,
  MusterError,
  type AgentRevocation,
  type AgentUser,
  type NodeRecord,
} from '#contracts';
import { MemoryStore, type MemoryTable } from '../../testing/memory-store.js';
import { odd } from '../../testing/odd.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode } from '../../testing/records.js';
import type { Concern } from '../concern.js';
import { connectedUsers, revocationRepair, revocations } from './revocations.js';

const LOOK_MS = 60_000;
const down = async (): Promise<never> => Promise.reject(new MusterError('BUS_UNAVAILABLE', 'NATS is down'));
const stolen = (at: number): NonNullable<NodeRecord['revoked']> => ({ by: 'ann', at, reason: 'stolen' });

/** One member, n-1, whose record names the user k-1. */
class World {
  readonly store = new MemoryStore();
  private readonly executor = planExecutor(this.store);

  constructor() {
    this.node();
    this.user('k-1');
  }

  node(o: Partial<NodeRecord> = {}, name = 'n-1'): void {
    this.store.nodes.set(name, aNode(name, { enrolled: true, agentKeys: ['k-1'], ...o }));
  }

  user(key: string, o: Partial<AgentUser> = {}): void {
    this.set(agentUserKey(key), { key, node: 'n-1', at: 1, ...o });
  }

  set(key: string, value: object | undefined): void {
    this.store.settings.set(key, value as never);
  }

  connects(key: string, o: { node?: string; issuedAt?: number } = {}): void {
    this.store.natsUsers.agents = [{ key, node: 'n-1', issuedAt: 5, ...o }];
  }

  noted(key: string): AgentUser | undefined {
    return this.store.settings.content[agentUserKey(key)] as unknown as AgentUser | undefined;
  }

  revocation(node = 'n-1'): AgentRevocation | undefined {
    return this.store.settings.content[agentRevocationKey(node)] as unknown as AgentRevocation | undefined;
  }

  get named(): readonly string[] | undefined {
    return this.store.nodes.content['n-1']?.agentKeys;
  }

  get refused(): string[][] {
    return this.store.natsUsers.refused;
  }

  /** Happens once right before a record of a node is read. */
  beforeRead(act: () => void): void {
    const { bucket } = this.store.nodes;
    const { get } = bucket;
    bucket.get = async (key) => {
      bucket.get = get;
      act();
      return get(key);
    };
  }

  /** @returns what failed: its code, or the node */
  async look(concern: Concern): Promise<unknown[]> {
    const failed: unknown[] = [];
    await playRun(this.executor.drive(concern), {
      now: this.store.clock.now,
      failed: (f) => failed.push((f as { node?: string }).node ?? (f as { code: string }).code),
    });
    this.store.clock.now += LOOK_MS;
    return failed;
  }
}

/** Happens once right before a record is compared. */
function beforeWrite<T>({ bucket }: MemoryTable<T>, act: () => void): void {
  const { mutate } = bucket;
  bucket.mutate = async (key, fn) => {
    bucket.mutate = mutate;
    act();
    return mutate(key, fn);
  };
}

const gaps: [string, (w: World, is: boolean) => void][] = [
  ['nodes are not seen', (w, is) => void (w.store.nodes.live = is)],
  ['settings are not seen', (w, is) => void (w.store.settings.live = is)],
  ['there is no key with which NATS can be told', (w, is) => void (w.store.natsUsers.able = is)],
];

describe('users that no record names any more', () => {
  const world = (): World => {
    const w = new World();
    w.user('k-2');
    return w;
  };

  it('are refused by NATS, and noted as refused, and those that a record names are not', async () => {
    const w = world();
    w.user('k-3', { node: 'n-9' });
    expect(await w.look(revocations)).toEqual([]);
    expect(w.refused).toEqual([['k-2', 'k-3']]);
    expect(['k-1', 'k-2', 'k-3'].map((key) => w.noted(key)?.revoked !== undefined)).toEqual([false, true, true]);
    await w.look(revocations);
    expect(w.refused).toHaveLength(1);
  });

  it.each(gaps)('stay while %s, and are refused after', async (_which, set) => {
    const w = world();
    set(w, false);
    await w.look(revocations);
    expect(w.refused).toEqual([]);
    set(w, true);
    await w.look(revocations);
    expect(w.refused).toEqual([['k-2']]);
  });

  it('stay where a gap comes before NATS is told', async () => {
    const w = world();
    w.beforeRead(() => (w.store.nodes.live = false));
    await w.look(revocations);
    expect([w.refused, w.noted('k-2')?.revoked]).toEqual([[], undefined]);
  });

  it('stay where the registry is empty: it was lost', async () => {
    const w = world();
    w.store.nodes.set('n-1', undefined);
    await w.look(revocations);
    expect(w.refused).toEqual([]);
  });

  it('are not those of a record that nobody can read, which holds up no other', async () => {
    const w = world();
    w.node({}, 'n-2');
    w.user('k-3', { node: 'n-9' });
    w.store.nodes.set('n-1', undefined);
    (w.store.nodes.unreadable as Map<string, unknown>).set('n-1', {});
    expect(await w.look(revocations)).toEqual([]);
    expect(w.refused).toEqual([['k-3']]);
  });

  it('are not those that were issued a moment ago, and that no view shows', async () => {
    const w = world();
    w.user('k-3');
    w.beforeRead(() => w.node({ agentKeys: ['k-1', 'k-2'] }));
    await w.look(revocations);
    expect([w.refused, w.noted('k-2')?.revoked]).toEqual([[['k-3']], undefined]);
  });

  it('are noted as refused only when NATS was told, and it is tried again', async () => {
    const w = world();
    const { revoke } = w.store.natsUsers;
    w.store.natsUsers.revoke = down;
    expect(await w.look(revocations)).toEqual(['BUS_UNAVAILABLE']);
    expect(w.noted('k-2')?.revoked).toBeUndefined();
    w.store.natsUsers.revoke = revoke;
    await w.look(revocations);
    expect([w.refused, w.noted('k-2')?.revoked !== undefined]).toEqual([[['k-2']], true]);
  });

  it('are told again where noting one has failed', async () => {
    const w = world();
    beforeWrite(w.store.settings, () => {
      throw new MusterError('TIMEOUT', 'no answer');
    });
    expect(await w.look(revocations)).toEqual(['TIMEOUT']);
    expect([w.refused, w.noted('k-2')?.revoked]).toEqual([[['k-2']], undefined]);
    await w.look(revocations);
    expect([w.refused, w.noted('k-2')?.revoked !== undefined]).toEqual([[['k-2'], ['k-2']], true]);
  });

  it('are refused beside a node that cannot be understood, whose users stay', async () => {
    const w = world();
    w.store.nodes.set('odd', odd(aNode('odd', { agentKeys: [] }), 'agentKeys'));
    w.user('k-3', { node: 'odd' });
    expect(await w.look(revocations)).toEqual(['odd']);
    expect(w.refused).toEqual([['k-2']]);
  });
});

describe('what NATS may have lost', () => {
  it('is told again, of all that are noted as refused', async () => {
    const w = new World();
    w.user('k-2', { revoked: 7 });
    for (let i = 0; i < 2; i++) await w.look(revocationRepair);
    expect([w.refused, w.noted('k-2')?.revoked]).toEqual([[['k-2'], ['k-2']], 7]);
  });
});

describe('the revocation of a node', () => {
  it('is kept beside its record', async () => {
    const w = new World();
    w.node({ enrolled: false, revoked: stolen(4) });
    await w.look(revocationRepair);
    expect(w.revocation()).toEqual({ node: 'n-1', ...stolen(4) });
  });

  it('is kept where NATS cannot be told', async () => {
    const w = new World();
    w.user('k-2', { revoked: 7 });
    w.node({ enrolled: false, revoked: stolen(4) });
    w.store.natsUsers.revoke = down;
    expect(await w.look(revocationRepair)).toEqual(['BUS_UNAVAILABLE']);
    expect(w.revocation()?.at).toBe(4);
  });

  it('leaves a later one alone that somebody has kept meanwhile', async () => {
    const w = new World();
    w.node({ enrolled: false, revoked: stolen(4) });
    beforeWrite(w.store.settings, () => w.set(agentRevocationKey('n-1'), { node: 'n-1', ...stolen(6) }));
    await w.look(revocationRepair);
    expect(w.revocation()?.at).toBe(6);
  });

  it('is kept beside one of a node that cannot be understood', async () => {
    const w = new World();
    w.node({ enrolled: false, revoked: stolen(4) });
    w.store.nodes.set('odd', odd(aNode('odd'), 'revoked'));
    expect(await w.look(revocationRepair)).toEqual(['odd']);
    expect(w.revocation()?.at).toBe(4);
  });
});

describe('a user that is connected, and that nobody has noted', () => {
  const world = (o: Parameters<World['connects']>[1] = {}): World => {
    const w = new World();
    w.connects('k-2', o);
    return w;
  };
  const fate = (w: World): unknown[] => [w.refused.flat(), w.named, w.noted('k-2') !== undefined];

  it('is named by the record of its node, and noted', async () => {
    const w = world();
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-2', 'k-1'], true]);
    await w.look(revocations);
    expect(w.refused).toEqual([]);
  });

  it('is refused where it is not younger than the revocation, kept or of the record, and the record does not name it', async () => {
    for (const [issuedAt, isRefused] of [
      [5, true],
      [6, false],
    ] as const) {
      const kept = world({ issuedAt });
      kept.set(agentRevocationKey('n-1'), { node: 'n-1', ...stolen(5) });
      const ofRecord = world({ issuedAt });
      ofRecord.node({ revoked: stolen(5) });
      for (const w of [kept, ofRecord]) {
        await w.look(connectedUsers);
        expect(w.refused).toEqual(isRefused ? [['k-2']] : []);
      }
    }
    const named = world();
    named.node({ agentKeys: ['k-2'], revoked: stolen(5) });
    await named.look(connectedUsers);
    expect(named.refused).toEqual([]);
  });

  it('gets in by no node that is not let in: of a revoked one it is noted, and swept', async () => {
    const w = world({ issuedAt: 6 });
    w.node({ enrolled: false });
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-1'], false]);
    w.node({ enrolled: false, revoked: stolen(5) });
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-1'], true]);
    await w.look(revocations);
    expect(w.refused).toEqual([['k-2']]);
  });

  it.each(gaps)('is left alone while %s, also where that comes before it is written', async (_which, set) => {
    const w = world();
    set(w, false);
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-1'], false]);
    set(w, true);
    w.beforeRead(() => set(w, false));
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-1'], false]);
  });

  it('is not named by a node whose agent was shut out meanwhile, and is swept', async () => {
    const w = world({ issuedAt: 6 });
    beforeWrite(w.store.nodes, () => w.node({ enrolled: false, revoked: stolen(7) }));
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-1'], true]);
    await w.look(revocations);
    expect(w.refused).toEqual([['k-2']]);
  });

  it('is not noted before the record names it: it would be swept', async () => {
    const w = world();
    beforeWrite(w.store.nodes, () => {
      throw new MusterError('TIMEOUT', 'no answer');
    });
    expect(await w.look(connectedUsers)).toEqual(['n-1']);
    expect(fate(w)).toEqual([[], ['k-1'], false]);
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-2', 'k-1'], true]);
  });

  it('is noted by the next look where that has failed after it was named', async () => {
    const w = world();
    beforeWrite(w.store.settings, () => {
      throw new MusterError('TIMEOUT', 'no answer');
    });
    expect(await w.look(connectedUsers)).toEqual(['n-1']);
    expect(fate(w)).toEqual([[], ['k-2', 'k-1'], false]);
    await w.look(connectedUsers);
    expect(fate(w)).toEqual([[], ['k-2', 'k-1'], true]);
  });

  it('waits where NATS does not say who is connected', async () => {
    const w = world();
    w.store.natsUsers.connected = down;
    expect(await w.look(connectedUsers)).toEqual(['BUS_UNAVAILABLE']);
    expect(fate(w)).toEqual([[], ['k-1'], false]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bus, Closable, Entry, SealedSecret } from '#bus';
import {
  DATAGRAM_KEYS_KEY,
  datagramKeySecret,
  keyId,
  MusterError,
  oneTimeBox,
  parseKeysGiven,
  Subjects,
  type AgentKeyView,
  type DatagramKeySet,
  type EventMap,
  type KeysAnswer,
  type PeerList,
  type Report,
} from '#contracts';
import { RunningInventory, seen } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';

const names = ['host1-SN1', 'host2-SN2', 'host3-SN3'];
let sut: RunningInventory;
let old: string;
const agents = new Map<string, PlayedAgent>();

/** Asks when it is told to, and says which keys it has; what it does with them is its spec's affair. */
class PlayedAgent {
  keys: string[];
  asks = true;
  private version = 0;
  private seq = 0;
  private readonly bus: Bus;
  private readonly ear: Closable;
  private readonly timer: NodeJS.Timeout;
  private again: NodeJS.Timeout | undefined;

  constructor(
    readonly name: string,
    key: string,
  ) {
    this.bus = sut.as(`agent=${name}`);
    this.keys = [key];
    this.ear = this.bus.subscribe(Subjects.peersChanged(name), () => this.refresh());
    this.timer = setInterval(() => this.report(), 100);
  }

  /** As the real one: whatever went wrong, it asks again. */
  private refresh(): void {
    if (!this.asks) return;
    this.ask().catch(() => (this.again = setTimeout(() => this.refresh(), 50)));
  }

  async ask(): Promise<PeerList & KeysAnswer> {
    const box = oneTimeBox();
    const question = { holds: this.keys.map((k) => keyId(Buffer.from(k, 'hex'))), box: box.publicKey };
    const answer = await this.bus.ask<PeerList & KeysAnswer>(Subjects.peers(this.name), question);
    const given = answer.sealedKeys === undefined ? undefined : parseKeysGiven(box.open(answer.sealedKeys));
    // As the real one: what a replica that is behind answers later does not undo what came before.
    if (given && given.version > this.version) {
      this.version = given.version;
      this.keys = given.keys.map((k) => k.toString('hex'));
    }
    return answer;
  }

  /** As the real one: a replica whose view is behind may answer, and it asks again. */
  async asksUntil(fits: (ids: string[]) => boolean): Promise<void> {
    await until(async () => {
      await this.ask();
      return fits(this.keys.map((k) => idOf(k)));
    }, `keys of ${this.name} that fit ${fits.toString()}`);
  }

  report(): void {
    const report: Report = {
      v: 1,
      node: this.name,
      bootId: 'boot-1',
      epoch: 1,
      seq: ++this.seq,
      listVersion: 1,
      networks: ['management'],
      keys: this.keys.map((k) => keyId(Buffer.from(k, 'hex'))),
      peers: [],
      health: { abstain: false, sendErrors: {}, loopGapMs: 0 },
    };
    this.bus.publish(Subjects.report(this.name), report);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    clearTimeout(this.again);
    this.asks = false;
    await this.ear.close();
  }
}

const gateway = (): Bus => sut.as('gateway');
const status = (): Promise<AgentKeyView> => gateway().call('inventory.agentKeys.get', {});
const rotate = (o: { dropAbsent?: boolean } = {}): Promise<AgentKeyView> =>
  gateway().call('inventory.agentKeys.rotate', { by: 'ann', reason: 'a disk was stolen', ...o });
const idOf = (key: string | undefined): string => keyId(Buffer.from(String(key), 'hex'));
const phase = (wanted: DatagramKeySet['phase'], fits: (s: DatagramKeySet) => boolean = () => true) =>
  seen<DatagramKeySet>(settings, DATAGRAM_KEYS_KEY, (s) => s.phase === wanted && fits(s));
/** A service's own watch of the record. */
let settings: Parameters<typeof seen<DatagramKeySet>>[0];

beforeAll(async () => {
  sut = await RunningInventory.start({ agents: names, replicas: 2 });
  await sut.work('provisioner', ['ansible']);
  old = readFileSync(join(sut.nats.dir, 'keys/datagram.key'), 'utf8').trim();
  settings = await sut.as('inventory').bucket<DatagramKeySet>('settings').view();
  for (const [i, name] of names.entries()) {
    const [label = '', serial = ''] = name.split('-');
    const node = { label, serial, networks: { management: { address: `10.0.0.${i + 1}` } }, enrolled: true };
    await gateway().call('inventory.nodes.create', { by: 'ann', node });
    agents.set(name, new PlayedAgent(name, old));
  }
});

afterAll(async () => {
  await Promise.all([...agents.values()].map((a) => a.close()));
  await settings?.close();
  await sut?.stop();
});

const agent = (i: number): PlayedAgent => agents.get(names[i - 1] as string) as PlayedAgent;

describe('the key of the datagrams', () => {
  it('is that of the file before it is exchanged, and nobody is given any', async () => {
    const shown = await sut.everywhere(status, (v) => v.nodes === 3);
    expect(shown).toMatchObject({ phase: 'file', keys: [idOf(old)], waitsFor: [] });
    const list = await agent(1).ask();
    expect([list.keys, list.sealedKeys]).toEqual([undefined, undefined]);
  });

  it('goes step by step, each only when everybody has said that it may', async () => {
    const audited = new Promise<EventMap['audit']>((resolve) => {
      const reader = gateway().follow([Subjects.event('audit', '*')], { fromSeq: 1 }, (_subject, event) => {
        const { data } = event as { data: EventMap['audit'] };
        if (data.action !== 'agent-key-rotate') return;
        resolve(data);
        void reader.close();
      });
    });
    sut.detectorKeys = [idOf(old)];
    agent(3).asks = false;
    const begun = await rotate();
    expect(begun).toMatchObject({ phase: 'spread', by: 'ann', keys: [idOf(old), expect.any(String)] });
    expect(await audited).toMatchObject({ by: 'ann', detail: expect.stringContaining('stolen'), outcome: 'accepted' });
    await expect(rotate()).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    // The detector and the third agent lack the new key.
    await sut.everywhere(status, (v) => v.waitsFor.map((w) => w.name).join() === 'detector,host3-SN3');
    expect([agent(1).keys[0], agent(1).keys.length]).toEqual([old, 2]);
    sut.detectorKeys = begun.keys;
    await sut.everywhere(status, (v) => v.waitsFor.map((w) => w.name).join() === 'host3-SN3');
    // It reports: whatever the operator says, it is waited for.
    await expect(rotate({ dropAbsent: true })).rejects.toMatchObject({ code: 'STILL_ALIVE' });
    expect((await status()).phase).toBe('spread');

    agent(3).asks = true;
    await agent(3).asksUntil((ids) => begun.keys.every((id) => ids.includes(id)));
    const signing = await phase('sign');
    expect(signing.keys).toEqual([...begun.keys].reverse());
    await sut.everywhere(status, (v) => v.waitsFor.map((w) => w.name).join() === 'detector');
    sut.detectorKeys = signing.keys;
    const done = await phase('done', (s) => s.retired === undefined);
    expect(done.keys).toEqual([signing.keys[0]]);
    expect(done.version).toBeGreaterThan(signing.version);
    sut.detectorKeys = done.keys;
    await sut.everywhere(status, (v) => v.phase === 'done' && v.waitsFor.length === 0);
    for (const i of [1, 2, 3]) expect(agent(i).keys.map((k) => idOf(k))).toEqual(done.keys);
  });

  it('is sealed where it is kept, gone where it was replaced, and in no record, answer or event', async () => {
    const [fresh = ''] = agent(1).keys;
    const secrets: Entry<SealedSecret>[] = await sut.as('inventory').bucket<SealedSecret>('secrets').list();
    expect(secrets.map((s) => s.key)).toEqual([datagramKeySecret(idOf(fresh))]);
    const all = JSON.stringify([
      secrets,
      await sut.as('inventory').bucket('settings').list(),
      await status(),
      (await agent(1).ask()).keys,
    ]);
    for (const key of [old, fresh]) expect(all).not.toContain(key);
  });

  it('is handed to new agents as it is now', async () => {
    const enrolment = await sut.as('provisioner').call('inventory.agents.enrol', {
      by: 'ada',
      label: 'host9',
      serial: 'SN9',
      networks: { management: { address: '10.0.0.9' } },
      hostKeys: [`ssh-ed25519 ${'A'.repeat(40)}`],
    });
    expect(enrolment.datagramKeys).toEqual(agent(1).keys);
  });

  it('is given to a detector that asks, and to no other service', async () => {
    const box = oneTimeBox();
    const question = { holds: [], box: box.publicKey };
    const { sealedKeys } = await sut.as('detector').call('inventory.agents.keys', question);
    expect(sealedKeys && parseKeysGiven(box.open(sealedKeys)).keys.map((k) => k.toString('hex'))).toEqual(
      agent(1).keys,
    );
    for (const user of ['gateway', 'provisioner', 'fencer', 'agent=host1-SN1'])
      await expect(sut.as(user).call('inventory.agents.keys', question)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(sut.as('detector').call('inventory.agents.keys', { holds: [], box: 'nobody' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
  });

  it('is not waited for by a node that nobody hears, once the operator says so; and not without the word', async () => {
    await agent(3).close();
    await sut.verdict('host3-SN3', 'DOWN');
    await seen(sut.nodes, 'host3-SN3', (n) => n.verdict?.verdict === 'DOWN');
    const begun = await rotate();
    sut.detectorKeys = begun.keys;
    const waits = await sut.everywhere(
      status,
      (v) => v.waitsFor.map((w) => `${w.name} ${w.heard}`).join() === 'host3-SN3 false',
    );
    expect(waits.phase).toBe('spread');
    await rotate({ dropAbsent: true });
    const signing = await phase('sign', (s) => s.keys[0] === begun.keys[1]);
    expect(signing.without).toEqual(['host3-SN3']);
    sut.detectorKeys = signing.keys;
    const done = await phase('done', (s) => s.keys[0] === begun.keys[1]);
    // It comes back with what it had: it is told of, and has what it lacks with its first question.
    await sut.everywhere(status, (v) => v.phase === 'done' && v.waitsFor.some((w) => w.name === 'host3-SN3'));
    await agent(3).asksUntil((ids) => ids.join() === done.keys.join());
  });

  it('is not given to a node that was revoked', async () => {
    await gateway().call('inventory.nodes.revoke', { by: 'ann', name: 'host2-SN2', reason: 'stolen', force: true });
    agent(2).asks = false;
    // The replica that has not revoked it may answer it once more.
    const refused = await until(
      () =>
        agent(2)
          .ask()
          .then(
            () => false as const,
            (e: unknown) => MusterError.from(e),
          ),
      'a refusal',
    );
    expect(refused.code).toMatch(/NODE_UNKNOWN|UNAVAILABLE|FORBIDDEN|TIMEOUT/);
  });
});

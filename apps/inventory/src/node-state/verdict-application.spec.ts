import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { VerdictKinds, type NodeRecord, type Verdict, type VerdictKind } from '#contracts';
import type { ReturnFacts } from '#domain/return/return.js';
import { aNode } from '../testing/fixtures.js';
import { applyVerdict } from './verdict-application.js';

const facts: ReturnFacts = { degradedForMs: undefined, holdDown: 5000, at: 9 };
const verdict = (kind: VerdictKind, o: Partial<Verdict> = {}): Verdict => ({
  node: 'a-1',
  verdict: kind,
  networks: [],
  epoch: 1,
  seq: 10,
  at: 1,
  bootId: 'b1',
  reason: '',
  evidence: { observers: [], assigned: 0, accusers: 0, members: 1, sightedReporters: 1 },
  ...o,
});
const seenUp = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 5, at: 1, bootId: 'b1' };
const serving = (o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode('a-1', { status: 'Allocated', bootId: 'b1', verdict: seenUp, ...o });

describe('a verdict', () => {
  it.each([
    ['UP', 'Disappeared', 'Discovered'],
    ['DEGRADED', 'Disappeared', 'Discovered'],
    ['DOWN', 'Discovered', 'Disappeared'],
    ['LEFT', 'Discovered', 'Disappeared'],
    ['SUSPECT', 'Discovered', 'Discovered'],
    ['UNKNOWN', 'Discovered', 'Discovered'],
    ['UNKNOWN', 'Disappeared', 'Disappeared'],
  ] as const)('%s makes a node that is %s %s', (kind, state, then) => {
    expect(applyVerdict(serving({ state }), verdict(kind), facts)?.state).toBe(then);
  });

  it('that is older, by epoch before sequence, changes nothing', () => {
    expect(applyVerdict(serving(), verdict('DOWN', { seq: 5 }), facts)).toBeUndefined();
    expect(applyVerdict(serving(), verdict('DOWN', { epoch: 0, seq: 99 }), facts)).toBeUndefined();
    expect(applyVerdict(serving(), verdict('DOWN', { epoch: 2, seq: 1 }), facts)?.state).toBe('Disappeared');
  });

  it('in any order and any number leaves what the newest one says', () => {
    const some = fc.record({ kind: fc.constantFrom(...VerdictKinds), epoch: fc.nat(3), seq: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 12 }), (list) => {
        const newest = [...list].sort((a, b) => a.epoch - b.epoch || a.seq - b.seq).at(-1);
        const same = list.filter((v) => v.epoch === newest?.epoch && v.seq === newest.seq);
        fc.pre(same.every((v) => v.kind === newest?.kind));
        let n = aNode('a-1');
        for (const v of list) n = applyVerdict(n, verdict(v.kind, v), facts) ?? n;
        expect(n.verdict).toMatchObject({ verdict: newest?.kind, epoch: newest?.epoch, seq: newest?.seq });
      }),
    );
  });

  it('UP of another boot says that a node that was switched off is on, and that it must be checked', () => {
    const off = serving({ state: 'Disappeared', confirmedOff: { at: 1, incident: 'i', bootId: 'b1' } });
    const n = applyVerdict(off, verdict('UP', { bootId: 'b2' }), facts);
    expect(n).toMatchObject({ state: 'Discovered', bootId: 'b2', pendingReturn: { reason: 'rebooted' } });
    expect(n?.confirmedOff).toBeUndefined();
  });
  it('UP of the boot that was ended, or of none, is an echo of the past', () => {
    const off = serving({ state: 'Disappeared', confirmedOff: { at: 1, incident: 'i', bootId: 'b1' } });
    const late = applyVerdict(off, verdict('UP'), facts);
    expect(late).toMatchObject({ state: 'Disappeared', confirmedOff: { incident: 'i' } });
    const { bootId: _none, ...nameless } = verdict('UP');
    expect(applyVerdict(off, nameless, facts)?.confirmedOff).toBeDefined();
  });
  it('of another boot takes the proven off away whatever it is, where its own report of a moment ago named that boot', () => {
    const off = serving({ state: 'Disappeared', confirmedOff: { at: 1, incident: 'i', bootId: 'b1' } });
    for (const kind of ['UNKNOWN', 'SUSPECT'] as const) {
      const n = applyVerdict(off, verdict(kind, { bootId: 'b2', poweredOn: true }), facts);
      expect(n).toMatchObject({ state: 'Disappeared', bootId: 'b1', verdict: { verdict: kind, bootId: 'b2' } });
      expect(n?.confirmedOff).toBeUndefined();
      expect(n?.pendingReturn).toBeUndefined();
      // Once it is judged it has returned, and is checked.
      const up = n && applyVerdict(n, verdict('UP', { bootId: 'b2', seq: 11 }), facts);
      expect(up).toMatchObject({ state: 'Discovered', bootId: 'b2', pendingReturn: { reason: 'rebooted' } });
      // The monitor may know an earlier boot, whose reports have ended.
      expect(applyVerdict(off, verdict(kind, { bootId: 'b2' }), facts)?.confirmedOff).toBeDefined();
      expect(applyVerdict(off, verdict(kind, { poweredOn: true }), facts)?.confirmedOff).toBeDefined();
    }
  });
  it('about a node without an agent is not for it', () => {
    expect(applyVerdict(serving({ enrolled: false }), verdict('DOWN'), facts)).toBeUndefined();
  });
});

describe('what counts as a return', () => {
  const reason = (n: NodeRecord, v: Verdict, f: Partial<ReturnFacts> = {}): string | undefined =>
    applyVerdict(n, v, { ...facts, ...f })?.pendingReturn?.reason;
  const cut = serving({ verdict: { ...seenUp, verdict: 'DEGRADED', networks: ['management'] } });

  it('is coming back from Disappeared', () => {
    expect(reason(serving({ state: 'Disappeared' }), verdict('UP'))).toBe('disappeared');
  });
  it('is another boot, also one that nobody missed', () => {
    expect(reason(serving(), verdict('UP', { bootId: 'b2' }))).toBe('rebooted');
  });
  it('is being on again after a proven off, also where none of its boots was known', () => {
    const { bootId: _none, ...off } = serving({ confirmedOff: { at: 1, incident: 'i' } });
    expect(reason(off, verdict('UP'))).toBe('rebooted');
  });
  it('is the end of a management cut that was longer than the hold-down, or of unknown length', () => {
    expect(reason(cut, verdict('UP'), { degradedForMs: 6000 })).toBe('degraded');
    expect(reason(cut, verdict('UP'), { degradedForMs: undefined })).toBe('degraded');
    expect(reason(cut, verdict('UP'), { degradedForMs: 3000 })).toBeUndefined();
  });
  it('is not the end of a backend cut, nor a suspicion that passed', () => {
    const backend = serving({ verdict: { ...seenUp, verdict: 'DEGRADED', networks: ['backend'] } });
    expect(reason(backend, verdict('UP'), { degradedForMs: 60_000 })).toBeUndefined();
    expect(reason(serving({ verdict: { ...seenUp, verdict: 'SUSPECT' } }), verdict('UP'))).toBeUndefined();
  });
  it.each(['Unallocated', 'Decommissioned', 'Provisioning', 'Maintenance'] as const)(
    'is nothing on a node that is %s',
    (status) => {
      expect(reason(serving({ status, state: 'Disappeared' }), verdict('UP', { bootId: 'b2' }))).toBeUndefined();
    },
  );
  it('keeps the first notice of one absence, but a new boot asks for a new check', () => {
    const waiting = serving({ pendingReturn: { reason: 'disappeared', at: 1, job: 'j' }, state: 'Disappeared' });
    expect(applyVerdict(waiting, verdict('UP'), facts)?.pendingReturn).toEqual({
      reason: 'disappeared',
      at: 1,
      job: 'j',
    });
    expect(applyVerdict(waiting, verdict('UP', { bootId: 'b2' }), facts)?.pendingReturn).toEqual({
      reason: 'rebooted',
      at: 9,
    });
  });
  it('leaves a node alone that was held for flapping', () => {
    const held = serving({ pendingReturn: { reason: 'rebooted', at: 1, held: 'flapping: 4 returns' } });
    expect(applyVerdict(held, verdict('UP', { bootId: 'b3' }), facts)?.pendingReturn?.held).toContain('flapping');
  });
});

import { describe, expect, it } from 'vitest';
import type { NodeRecord } from '#contracts';
import { applyVerdict } from '../../node-state/verdict-application.js';
import { aNode, anIncident, aVerdict } from '../../testing/records.js';
import { notOff } from '../../power/void-proof.js';
import { switchedOff } from './switched-off.js';

describe('a node whose power is proven off', () => {
  const incident = anIncident('n-1', { bootId: 'b1' });
  const ended = { ended: 'b1', since: undefined };
  const facts = { degradedForMs: undefined, holdDown: 0, at: 5 };
  const down = applyVerdict(aNode('n-1', { bootId: 'b1' }), aVerdict('n-1', { bootId: 'b1' }), facts) as NodeRecord;
  const up = aVerdict('n-1', { verdict: 'UP', seq: 2, bootId: 'b2' });

  it('counts as off in the boot that was ended, and stays out of service', () => {
    expect(switchedOff(down, incident, ended, 9)).toMatchObject({
      state: 'Disappeared',
      maintenance: { incident: incident.id },
      confirmedOff: { incident: incident.id, bootId: 'b1' },
    });
  });
  it('has returned, and is not off, where its next boot was heard before anybody wrote it down', () => {
    const back = switchedOff(applyVerdict(down, up, facts) as NodeRecord, incident, ended, 9);
    expect(back).toMatchObject({
      state: 'Discovered',
      bootId: 'b2',
      maintenance: { incident: incident.id },
      pendingReturn: { reason: 'rebooted' },
    });
    expect(back?.confirmedOff).toBeUndefined();
  });
  it('has returned also where it has fallen silent since then, in a boot that is known to be of after the proof', () => {
    const returned = applyVerdict(down, up, facts) as NodeRecord;
    const silent = applyVerdict(returned, aVerdict('n-1', { seq: 3, bootId: 'b2' }), facts) as NodeRecord;
    const marked = (since?: string): NodeRecord | undefined => switchedOff(silent, incident, { ended: 'b1', since }, 9);
    expect(marked('b2')).toMatchObject({ state: 'Disappeared', bootId: 'b2', pendingReturn: { reason: 'rebooted' } });
    expect(marked('b2')?.confirmedOff).toBeUndefined();
    expect([marked(), marked('b3')]).toMatchObject(Array(2).fill({ bootId: 'b1', confirmedOff: { bootId: 'b1' } }));
  });
  it('is not called off a second time once its next boot was heard', () => {
    const off = switchedOff(down, incident, ended, 9) as NodeRecord;
    expect(switchedOff(off, incident, ended, 9)).toBeUndefined();
    expect(switchedOff(applyVerdict(off, up, facts) as NodeRecord, incident, ended, 9)).toBeUndefined();
  });
  it('is called off again by the next proof of the same incident, where that one was void', () => {
    const off = switchedOff(down, incident, ended, 9) as NodeRecord;
    const spoke = notOff(
      off,
      { ...incident, proof: { kind: 'manual', at: 1, by: 'eve', reason: 'r' } },
      10,
    ) as NodeRecord;
    expect([spoke.confirmedOff, spoke.maintenance]).toEqual([undefined, { reason: 'fenced', at: 9 }]);
    expect(switchedOff(spoke, incident, ended, 11)).toMatchObject({
      maintenance: { incident: incident.id },
      confirmedOff: { at: 11, incident: incident.id },
    });
  });
  it('is called off where the same boot was heard on its way out', () => {
    const late = applyVerdict(down, { ...up, bootId: 'b1' }, facts) as NodeRecord;
    expect(switchedOff(late, incident, ended, 9)?.confirmedOff).toBeDefined();
  });
});

import { describe, expect, it } from 'vitest';
import { defaultSettings, GateCodes } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { gateTable, lifeSign } from './gates.js';

describe('the table of gates', () => {
  it('has every gate, in the order in which they are asked', () => {
    expect(Object.keys(gateTable)).toEqual([...GateCodes]);
  });

  it('lets nobody past a gate that says how things are, and past a sign of life only with force', () => {
    const by = (release: 'never' | 'force') => GateCodes.filter((code) => gateTable[code].release === release);
    expect(by('never')).toEqual(['ALREADY_OPEN', 'QUORUM', 'PAUSED', 'OBSERVE']);
    expect(by('force')).toEqual(['BLIND', 'LIFE_SIGN']);
  });

  it('says how old the own report of a node is, and for how long it counts', () => {
    const settings = defaultSettings('lan');
    expect(lifeSign({ settings, verdict: undefined, ownReportAgeMs: 400, node: aNode('a-1') })).toEqual({
      kind: 'report',
      detail: 'Its own report came 0.4 s ago; one counts for 2.5 s.',
    });
  });

  it('asks anew, after the permit, what may have changed since', () => {
    const again = GateCodes.filter((code) => gateTable[code].askedAgain);
    expect(again).toEqual(['BLIND', 'NOT_FENCEABLE', 'LIFE_SIGN', 'QUORUM', 'PAUSED', 'OBSERVE']);
  });
});

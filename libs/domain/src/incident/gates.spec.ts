import { describe, expect, it } from 'vitest';
import { GateCodes } from '#contracts';
import { gateTable } from './gates.js';

describe('the table of gates', () => {
  it('has every gate, in the order in which they are asked', () => {
    expect(Object.keys(gateTable)).toEqual([...GateCodes]);
  });

  it('lets nobody past a gate that says how things are, and past a sign of life only with force', () => {
    const by = (release: 'never' | 'force') => GateCodes.filter((code) => gateTable[code].release === release);
    expect(by('never')).toEqual(['ALREADY_OPEN', 'QUORUM', 'PAUSED', 'OBSERVE']);
    expect(by('force')).toEqual(['BLIND', 'LIFE_SIGN']);
  });

  it('asks anew, after the permit, what may have changed since', () => {
    const again = GateCodes.filter((code) => gateTable[code].askedAgain);
    expect(again).toEqual(['BLIND', 'NOT_FENCEABLE', 'LIFE_SIGN', 'QUORUM', 'PAUSED', 'OBSERVE']);
  });
});

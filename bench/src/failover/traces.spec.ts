import { describe, expect, it } from 'vitest';
import type { Beat } from '../../../lab/src/audit/ledger.js';
import type { BmcEntry } from '../../../lab/src/audit/bmc-log.js';
import { firstBeatElsewhere, powerTrace } from './traces.js';

const DEATH_NS = 1_000_000_000;
const entry = (op: 'get' | 'set', value: string, ms: number): BmcEntry => ({
  host: 'host2',
  op,
  what: 'power',
  value,
  ns: DEATH_NS + ms * 1e6,
  at: 0,
});
const beat = (host: string, ms: number): Beat => ({ workload: 'work', host, boot: 'b', ns: DEATH_NS + ms * 1e6 });

describe('what a BMC wrote down of a death', () => {
  it('proves the off by the second read that answers off after the order', () => {
    const log = [entry('get', '1', 3600), entry('set', '0', 3700), entry('get', '0', 3900), entry('get', '0', 4300)];
    expect(powerTrace(log, DEATH_NS)).toEqual({ offSentMs: 3700, offConfirmedMs: 4300 });
  });

  it('counts no read that still answers on, and none of before the order', () => {
    const log = [entry('get', '0', 3600), entry('set', '0', 3700), entry('get', '1', 3900), entry('get', '0', 4300)];
    expect(powerTrace(log, DEATH_NS)).toEqual({ offSentMs: 3700 });
  });

  it('takes no order of before the death, and none to switch on', () => {
    expect(powerTrace([entry('set', '0', -10), entry('set', '1', 20)], DEATH_NS)).toEqual({});
  });
});

describe('the first beat elsewhere', () => {
  it('is the earliest after the death, of whichever host but the dead one', () => {
    const beats = [beat('host3', 5600), beat('host3', 5550), beat('host2', 10), beat('host4', -20)];
    expect(firstBeatElsewhere(beats, 'host2', DEATH_NS)).toEqual(beat('host3', 5550));
  });

  it('is missing while nobody else runs it', () => {
    expect(firstBeatElsewhere([beat('host2', 10)], 'host2', DEATH_NS)).toBeUndefined();
  });
});

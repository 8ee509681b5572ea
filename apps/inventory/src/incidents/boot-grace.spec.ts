import { describe, expect, it } from '@jest/globals';
import type { PowerCommand } from '#contracts';
import { bootAwaited } from './boot-grace.js';

const command = (n: number, verb: PowerCommand['verb'], ok = true): PowerCommand => ({
  n,
  epoch: 1,
  fencer: 'f',
  level: 0,
  device: 'bmc',
  verb,
  at: 0,
  result: { ok },
});
const sut = (commands: PowerCommand[], bootId?: string, order?: { after: number; bootId?: string }) =>
  bootAwaited(
    {
      id: 'i',
      commands,
      bootId: 'old',
      ...(order && { order: { action: 'on', by: 'b', reason: 'r', at: 0, ...order } }),
    },
    bootId === undefined ? {} : { bootId },
  );

describe('a boot that is awaited', () => {
  it('is that of a node that was switched on and not heard in another boot since', () => {
    expect(sut([command(1, 'off'), command(2, 'on'), command(3, 'status')], 'old')).toBe('i/2');
    expect(sut([command(1, 'off'), command(2, 'on')], 'new')).toBeUndefined();
  });

  it('is none where nothing was switched on, where it failed, or where it was ordered down again', () => {
    expect(sut([], 'old')).toBeUndefined();
    expect(sut([command(1, 'off')], 'old')).toBeUndefined();
    expect(sut([command(1, 'on', false)], 'old')).toBeUndefined();
    expect(sut([command(1, 'on'), command(2, 'off')], 'old')).toBeUndefined();
    expect(sut([command(1, 'on'), command(2, 'soft')], 'old')).toBeUndefined();
  });

  it('is told by the boot before an order by hand, not by that of an incident long ago', () => {
    const commands = [command(1, 'off'), command(2, 'on'), command(3, 'on')];
    expect(sut(commands, 'later', { after: 2, bootId: 'later' })).toBe('i/3');
    expect(sut(commands, 'latest', { after: 2, bootId: 'later' })).toBeUndefined();
    // An order that found it on has switched nothing.
    expect(sut(commands, 'later', { after: 3, bootId: 'later' })).toBeUndefined();
    expect(sut(commands, undefined, { after: 2 })).toBe('i/3');
  });
});

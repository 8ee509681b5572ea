import { describe, expect, it } from 'vitest';
import type { PowerCommand, PowerOrder } from '#contracts';
import { bootAwaited, isOrderedOn } from './boot-grace.js';

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
const read = (n: number, power: 'on' | 'off', device = 'bmc'): PowerCommand => ({
  ...command(n, 'status'),
  device,
  result: { ok: true, power },
});
const untold = ({ result: _none, ...c }: PowerCommand): PowerCommand => c;
const sut = (commands: PowerCommand[], bootId?: string, order?: Partial<PowerOrder>) =>
  bootAwaited(
    {
      id: 'i',
      commands,
      bootId: 'old',
      ...(order && { order: { action: 'on', by: 'b', reason: 'r', at: 0, after: 0, ...order } }),
    },
    bootId === undefined ? {} : { bootId },
  );

describe('a boot that is awaited', () => {
  it('is that of a node that was switched on and not heard in another boot since', () => {
    expect(sut([command(1, 'off'), command(2, 'on'), command(3, 'status')], 'old')).toBe('i/2');
    expect(sut([command(1, 'off'), command(2, 'on')], 'new')).toBeUndefined();
  });

  it('is none where nothing was switched on, where that failed, or where it was ordered down again', () => {
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
    // One of an earlier Muster says no boot: that of its incident is the one before.
    expect(sut(commands, 'old', { after: 2 })).toBe('i/3');
    expect(sut(commands, 'new', { after: 2 })).toBeUndefined();
    // An order that found it on has switched nothing.
    expect(sut(commands, 'later', { after: 3, bootId: 'later' })).toBeUndefined();
    expect(sut(commands, undefined, { after: 2 })).toBe('i/3');
  });

  it('is that of a command that may have worked, whatever its record says', () => {
    const on = command(1, 'on');
    const failed = command(2, 'on', false);
    expect(sut([untold(on)], 'old')).toBe('i/1');
    expect(sut([on, failed], 'old')).toBe('i/2');
    expect(sut([failed, read(3, 'on')], 'old')).toBe('i/2');
    expect(sut([failed, read(3, 'off')], 'old')).toBeUndefined();
    // That one was on before, and another has not taken the command.
    expect(sut([read(1, 'on'), failed], 'old')).toBeUndefined();
    expect(sut([failed, read(3, 'on', 'other')], 'old')).toBeUndefined();
    expect(sut([untold(on), command(2, 'off')], 'old')).toBeUndefined();
  });

  it('ends with an order that failed, and is sure with one that did not', () => {
    const ordered = { bootId: 'old', done: true };
    expect(sut([command(1, 'on', false)], 'old', { ...ordered, ok: true })).toBe('i/1');
    expect(sut([command(1, 'on')], 'old', { ...ordered, ok: false })).toBeUndefined();
  });
});

it('an order to switch on is one until it is done', () => {
  const order: PowerOrder = { action: 'on', by: 'b', reason: 'r', at: 0, after: 0 };
  expect(isOrderedOn({ order })).toBe(true);
  expect(isOrderedOn({ order: { ...order, action: 'soft' } })).toBe(false);
  expect(isOrderedOn({ order: { ...order, done: true, ok: false } })).toBe(false);
  expect(isOrderedOn({})).toBe(false);
});

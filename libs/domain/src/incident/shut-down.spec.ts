import { describe, expect, it } from 'vitest';
import type { IncidentRecord, PowerCommand, PowerOrder } from '#contracts';
import { shutdownAwaited } from './shut-down.js';

const order: PowerOrder = { action: 'soft', by: 'eve', reason: 'memory', at: 1, after: 3, bootId: 'b-1' };
const soft = (n: number, result?: PowerCommand['result']): PowerCommand => {
  const by = { epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'soft' as const, at: 0 };
  return { ...by, n, ...(result !== undefined && { result }) };
};
const awaits = (o: Partial<PowerOrder>, commands: PowerCommand[] = [], bootId: string | undefined = 'b-1'): boolean =>
  shutdownAwaited({ order: { ...order, ...o }, commands }, { bootId }) !== undefined;

describe('a shutdown that was ordered', () => {
  it('is awaited from the order on, before anything is given', () => expect(awaits({})).toBe(true));

  it('is awaited after the device took it, and where it may have', () => {
    const done = { done: true, ok: true };
    expect(awaits(done, [soft(4, { ok: true })])).toBe(true);
    const failed = { done: true, ok: false };
    expect(awaits(failed, [soft(4)])).toBe(true);
    for (const code of ['BMC_TIMEOUT', 'COMMAND_FAILED'])
      expect(awaits(failed, [soft(4, { ok: false, code })])).toBe(true);
  });

  it('is not awaited where nothing was given, or the device said no', () => {
    const failed = { done: true, ok: false };
    expect(awaits(failed)).toBe(false);
    expect(awaits(failed, [soft(4, { ok: false, code: 'BMC_REFUSED' })])).toBe(false);
    // Of the order before it.
    expect(awaits(failed, [soft(3, { ok: true })])).toBe(false);
  });

  it('is over in another boot, and by an order to switch on', () => {
    const done = { done: true, ok: true };
    expect(awaits(done, [soft(4, { ok: true })], 'b-2')).toBe(false);
    expect(awaits({ action: 'on' })).toBe(false);
    const none: Pick<IncidentRecord, 'order' | 'commands'> = { commands: [] };
    expect(shutdownAwaited(none, { bootId: 'b-1' })).toBeUndefined();
    expect(shutdownAwaited(undefined, { bootId: 'b-1' })).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { MusterError, type PowerCommand } from '#contracts';
import { anIncident } from '../testing/records.js';
import { mayCommand, stopAll, stopped } from './stopped-incident.js';

const paused = { paused: { until: 9, by: 'eve', reason: 'moving racks' } };
const command = (verb: 'off' | 'on'): PowerCommand => ({
  n: 1,
  epoch: 1,
  fencer: 'f',
  level: 0,
  device: 'bmc',
  verb,
  at: 1,
});

describe('a pause, and mode observe', () => {
  it('stop an incident before its first command at their gate', () => {
    const i = anIncident('n-1', { phase: 'fencing' });
    expect(stopped(i, paused, 'eve', 5)).toMatchObject({ phase: 'suppressed', gate: 'PAUSED' });
    expect(stopped(i, {}, 'eve', 5)).toMatchObject({ phase: 'suppressed', gate: 'OBSERVE' });
  });
  it('write the key of one that was commanded, and leave it where it is', () => {
    const i = anIncident('n-1', { phase: 'failed', commands: [command('off')] });
    expect(stopped(i, paused, 'eve', 5)).toMatchObject({ phase: 'failed', updatedAt: 5 });
  });
  it('cancel a power-on that is not done, and say what may still happen', () => {
    const powerOn = { wanted: true, requestedAt: 1 };
    const i = anIncident('n-1', { phase: 'recovered', powerOn, commands: [command('off')] });
    expect(stopped(i, paused, 'eve', 5)?.powerOn).toMatchObject({
      wanted: false,
      requestedAt: 1,
      detail: 'eve paused fencing: moving racks. It stays off: power it on by hand.',
    });
    const given = stopped({ ...i, commands: [command('off'), command('on')] }, {}, 'eve', 5)?.powerOn;
    expect(given?.detail).toContain('may still be carried out');
  });
  it('cancel an order that is due; the second half of a cycle is asked for when it is', () => {
    const order = { action: 'soft' as const, by: 'eve', reason: 'x', at: 1, after: 0 };
    const closed = anIncident('n-1', { phase: 'closed', order });
    expect(mayCommand(closed)).toBe(true);
    const now = stopped(closed, paused, 'eve', 5);
    expect(now?.order).toMatchObject({ done: true, ok: false, detail: 'eve paused fencing: moving racks.' });
    expect(now && mayCommand(now)).toBe(false);
    expect(stopped(anIncident('n-1', { phase: 'fencing', order }), {}, 'eve', 5)?.order).toEqual(order);
  });
  it('leave alone what gives no command any more', () => {
    const done = { wanted: true, requestedAt: 1, done: true, ok: true };
    expect(stopped(anIncident('n-1', { phase: 'recovered', powerOn: done }), paused, 'eve', 5)).toBeUndefined();
    expect(stopped(anIncident('n-1', { phase: 'recovering' }), paused, 'eve', 5)).toBeUndefined();
    expect(stopped(anIncident('n-1'), paused, 'eve', 5)).toBeUndefined();
  });
});

describe('those that may give a command', () => {
  const all = ['n-1', 'n-2', 'n-3'].map((node) => anIncident(node, { phase: 'fencing' }));

  it('are each stopped, also behind one that cannot be, which is named', async () => {
    const told: string[] = [];
    const stop = async ({ node }: { node: string }): Promise<void> => {
      if (node === 'n-1') throw new MusterError('BUS_UNAVAILABLE', 'incidents.n-1 was changed by others');
      await Promise.resolve(told.push(node));
    };
    await expect(stopAll([...all, anIncident('n-4', { phase: 'closed' })], stop)).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
      message: expect.stringContaining('a command to n-1 may still be on its way: incidents.n-1 was changed') as string,
    });
    expect(told).toEqual(['n-2', 'n-3']);
  });
});

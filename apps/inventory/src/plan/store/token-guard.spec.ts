import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { anIncident } from '../../testing/records.js';
import { behindAlarms, tokenGuard } from './token-guard.js';

const lease = (name: string, token: number, holder?: string) => ({ name, token, ageMs: 0, ...(holder && { holder }) });

describe('a lease whose token is behind', () => {
  it('is an alarm that names it, what its records hold, and what to do', () => {
    const leases = [
      lease('fencer', 3, 'fencer-1'),
      lease('conductor', 9, 'inventory-1'),
      lease('job.toString', 1, 'p'),
    ];
    const alarms = behindAlarms(leases, { fencer: 4, conductor: 9, detector: 100 });
    expect(alarms).toMatchObject([{ code: 'token-behind', subject: 'fencer', severity: 'critical' }]);
    expect(alarms[0]?.message).toContain('token 3, and records hold 4');
  });

  it('is none while nobody holds it', () => {
    expect(behindAlarms([lease('fencer', 3)], { fencer: 4 })).toEqual([]);
  });

  it('is told of until it is taken anew, and not through a gap in the records', async () => {
    const store = new MemoryStore();
    const sut = planExecutor(store).drive(tokenGuard);
    const alarm = (): unknown => store.alarms.content['token-behind=fencer'];
    const round = async (token: number, live = true): Promise<void> => {
      store.leases.set('fencer', { holder: 'fencer-1', token, nonce: 'n', ttlMs: 5_000 });
      store.incidents.live = live;
      await playRun(sut);
    };
    store.incidents.set('n-1', anIncident('n-1', { epoch: 4 }));
    await round(3, false);
    expect(alarm()).toBeUndefined();
    await round(3);
    store.clock.now += 5_000;
    await round(3);
    expect(alarm()).toMatchObject({ severity: 'critical' });
    await round(5, false);
    expect(alarm()).not.toHaveProperty('cleared');
    await round(5);
    expect(alarm()).toHaveProperty('cleared');
  });

  it('is none before its holder has renewed it: until then it shows a token that its own write may have raised', async () => {
    const store = new MemoryStore();
    const sut = planExecutor(store).drive(tokenGuard);
    const round = async (token: number): Promise<void> => {
      store.leases.set('fencer', { holder: 'fencer-1', token, nonce: 'n', ttlMs: 5_000 });
      await playRun(sut);
    };
    store.incidents.set('n-1', anIncident('n-1', { epoch: 4 }));
    await round(3);
    store.clock.now += 4_999;
    await round(3);
    await round(4);
    expect(store.alarms.content).toEqual({});
    await round(3);
    store.clock.now += 4_999;
    await round(3);
    expect(store.alarms.content).toEqual({});
  });

  it('stays one under a conductor that has just begun to look', async () => {
    const store = new MemoryStore();
    store.leases.set('fencer', { holder: 'fencer-1', token: 3, nonce: 'n', ttlMs: 5_000 });
    store.incidents.set('n-1', anIncident('n-1', { epoch: 4 }));
    const before = planExecutor(store).drive(tokenGuard);
    await playRun(before);
    store.clock.now += 5_000;
    await playRun(before);
    await playRun(planExecutor(store).drive(tokenGuard));
    expect(store.alarms.content['token-behind=fencer']).toBeDefined();
    expect(store.alarms.content['token-behind=fencer']).not.toHaveProperty('cleared');
  });
});

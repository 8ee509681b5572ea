import { describe, expect, it } from 'vitest';
import type { AgentMetrics, Report } from '#contracts';
import type { ServiceContext } from '#service';
import { ReportsView } from './reports-view.js';

const report = (bootId: string, epoch: number, seq: number): Report => ({
  v: 1,
  node: 'n-1',
  bootId,
  epoch,
  seq,
  listVersion: 1,
  networks: ['management'],
  health: { loopGapMs: 0, sendErrors: {}, abstain: false, warnings: [] },
  peers: [],
});

const viewAt = (now: () => number): ReportsView => new ReportsView({ clock: { monotonicMs: now } } as ServiceContext);

const heard = (...reports: [bootId: string, epoch: number, seq: number, at: number][]): string | undefined => {
  const view = viewAt(() => 0);
  for (const [bootId, epoch, seq, at] of reports) view.hear(report(bootId, epoch, seq), at);
  const last = view.of('n-1')?.report;
  return last && `${last.bootId} ${last.epoch} ${last.seq}`;
};

describe('the last report of an agent, as inventory heard it', () => {
  it('is the newest, however late and doubled the others come', () => {
    expect(heard(['a', 5, 1, 0], ['a', 5, 3, 100], ['a', 5, 2, 110], ['a', 5, 3, 120], ['a', 4, 9, 130])).toBe('a 5 3');
    expect(heard(['a', 5, 7, 0], ['b', 6, 1, 100], ['a', 5, 8, 110])).toBe('b 6 1');
  });

  it('is of the first of two machines that report one start in two boots, as long as that one is heard', () => {
    expect(heard(['a', 5, 1, 0], ['b', 5, 9, 1000], ['a', 5, 2, 4000], ['b', 5, 10, 8999])).toBe('a 5 2');
    expect(heard(['a', 5, 1, 0], ['b', 5, 9, 5000], ['a', 5, 2, 5001])).toBe('b 5 9');
  });

  it('is of a machine that counts from the start again, once the one before has been silent for 5 s', () => {
    expect(heard(['a', 5, 7, 0], ['b', 1, 1, 4999])).toBe('a 5 7');
    expect(heard(['a', 5, 7, 0], ['b', 1, 1, 5000])).toBe('b 1 1');
    expect(heard(['a', 5, 7, 0], ['a', 1, 1, 60_000])).toBe('a 5 7');
  });

  it('keeps what its process has told of itself, which not every report does, and how its clock differs', () => {
    const view = viewAt(() => 0);
    const metrics = { version: '1.2.3', wallMs: 10_400 } as AgentMetrics;
    const telling = report('a', 5, 1);
    view.hear({ ...telling, health: { ...telling.health, metrics } }, 0, 10_000);
    view.hear(report('a', 5, 2), 1000, 11_000);
    expect(view.of('n-1')).toMatchObject({ metrics, clockOffMs: 400, report: { seq: 2 } });
    view.hear(report('a', 6, 1), 2000, 12_000);
    expect(view.of('n-1')).not.toHaveProperty('metrics');
    expect(view.of('n-1')).not.toHaveProperty('clockOffMs');
  });

  it('is missed from when this process listens: what was said before, it does not know', () => {
    let now = 1_000;
    const view = viewAt(() => now);
    now += 200;
    expect(view.unheardMs('n-1')).toBe(200);
    view.hear(report('a', 5, 1), now);
    now += 5_000;
    expect(view.unheardMs('n-1')).toBe(5_000);
  });
});

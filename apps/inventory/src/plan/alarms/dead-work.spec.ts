import { describe, expect, it } from 'vitest';
import { BEACON_FRESH_MS, type WorkloadRecord } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aBeacon, aNode, anIncident, aWorkload } from '../../testing/records.js';
import { deadWithWork, deadWork, runningBy, type DeadWorkFacts } from './dead-work.js';

const cordon = { by: 'ann', reason: 'disk swap', at: 1 };
const on = (name: string, node: string, o: object = {}): WorkloadRecord =>
  aWorkload(name, { generation: 1, assignment: { node, generation: 1 }, ...o });
const all = [on('web', 'n-1'), on('db', 'n-1', { priority: 9 }), on('old', 'n-1', { desired: 'stopped' })];
const sut = ({ workloads = all, ...o }: Partial<DeadWorkFacts> & { workloads?: WorkloadRecord[] } = {}): ReturnType<
  typeof deadWithWork
> =>
  deadWithWork({
    nodes: [aNode('n-1', { cordon }), aNode('n-2')],
    running: () => runningBy(workloads),
    verdictOf: () => 'DOWN',
    incidentOf: () => undefined,
    ...o,
  });

describe('a cordoned node that dies with its work', () => {
  it('is an alarm that names the work, who cordoned it and what to do', () => {
    expect(sut()).toEqual([
      {
        code: 'dead-with-work',
        subject: 'n-1',
        severity: 'critical',
        message:
          'n-1 is DOWN and cordoned by ann (disk swap): it is not fenced. Runs nowhere: db, web. To have it fenced and its work started elsewhere: muster node uncordon n-1.',
      },
    ]);
  });

  it('is none while it lives, where nothing should run there, or where its incident is open', () => {
    expect(sut({ verdictOf: () => 'SUSPECT' })).toEqual([]);
    expect(sut({ workloads: [on('old', 'n-1', { desired: 'stopped' })] })).toEqual([]);
    expect(sut({ incidentOf: (n) => anIncident(n, { phase: 'suppressed' }) })).toEqual([]);
    expect(sut({ incidentOf: (n) => anIncident(n, { phase: 'closed' }) })).toHaveLength(1);
  });

  it('names ten at most', () => {
    const many = Array.from({ length: 12 }, (_, i) => on(`w${10 + i}`, 'n-1'));
    expect(sut({ workloads: many })[0]?.message).toContain('w19 and 2 more.');
  });
});

describe('the alarm about it, round by round', () => {
  const store = new MemoryStore();
  const task = planExecutor(store).drive(deadWork);
  const beacon = (seq: number, verdict: 'UP' | 'DOWN'): string =>
    JSON.stringify(aBeacon({ seq, ...(verdict === 'DOWN' && { notUp: { 'n-1': { verdict, seq } } }) }));
  const isUp = (): boolean => {
    const alarm = store.alarms.content['dead-with-work=n-1'];
    return alarm !== undefined && alarm.cleared === undefined;
  };

  it('is raised by the word of the detector, and stands while nobody knows better', async () => {
    store.nodes.set('n-1', aNode('n-1', { cordon }));
    store.workloads.set('db', on('db', 'n-1'));
    await playRun(task);
    expect(isUp()).toBe(false);
    store.detector.hear(beacon(1, 'DOWN'));
    await playRun(task);
    expect(isUp()).toBe(true);

    // Neither a silent detector nor a gap ends it.
    store.workloads.set('db', on('db', 'n-2'));
    store.clock.now += BEACON_FRESH_MS;
    await playRun(task);
    store.detector.hear(beacon(2, 'DOWN'));
    for (const table of [store.nodes, store.workloads]) {
      table.live = false;
      await playRun(task);
      table.live = true;
    }
    expect(isUp()).toBe(true);
    await playRun(task);
    expect(isUp()).toBe(false);
  });
});

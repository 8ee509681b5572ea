import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Subjects } from '#contracts';
import { connectBus, type Bus } from '../index.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
let bus: Bus;

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'one', servers: [nats.url] });
  await bus.createBuckets();
  // 1 to 3,000: each third one is of b-1, the others of a-1, each 1,000th one a job that names it.
  for (let i = 1; i <= 3_000; i += 500)
    await Promise.all(
      Array.from({ length: 500 }, async (_, k) => {
        const seq = i + k;
        if (seq % 1_000 === 0)
          await bus.emit('job', `job-${seq}`, {
            job: 'j',
            kind: 'check',
            status: 'Queued',
            nodes: ['a-1'],
            task: '',
            error: '',
          });
        else await bus.emit('in-service', seq % 3 === 0 ? 'b-1' : 'a-1', { node: seq % 3 === 0 ? 'b-1' : 'a-1' });
      }),
    );
});

afterAll(async () => {
  await bus?.close();
  await nats?.stop();
});

const filters = [Subjects.event('*', 'a-1'), Subjects.event('job', '*')];
const read = (before?: number, count = 300, keep = (_s: string, _v: unknown) => true) =>
  bus.readBack(filters, { count, keep, ...(before !== undefined && { before }) });

describe('reading back', () => {
  it('has each event under any of the filters once, newest first, over pages that fit together', async () => {
    const seqs: number[] = [];
    let before: number | undefined;
    do {
      const page = await read(before);
      expect(page.items.length).toBeLessThanOrEqual(300);
      seqs.push(...page.items.map((e) => e.seq));
      before = page.next;
    } while (before !== undefined);
    expect(seqs).toHaveLength(2_001);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => b - a));
  });

  it('goes back as far as it takes to find what is kept', async () => {
    const jobs = await read(undefined, 10, (subject) => subject.startsWith('muster.event.job.'));
    expect(jobs.items).toHaveLength(3);
    expect(jobs.next).toBeUndefined();
    expect((await read(jobs.items[1]?.seq, 10, (s) => s.startsWith('muster.event.job.'))).items).toEqual([
      jobs.items[2],
    ]);
    expect(await read(1)).toEqual({ items: [] });
  });
});

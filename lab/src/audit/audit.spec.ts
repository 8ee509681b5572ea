import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { daemon } from '#bus/testing/daemon.js';
import { leakedTools, secretsInArgv, secretsInTexts } from './leaks.js';
import { historyOf, parseBeat } from './ledger.js';
import type { IncidentRecord, JobRecord } from '#contracts';
import { findViolations, unjudged } from './checks.js';
import { cutBefore, withKept } from './kept-history.js';
import { clean, selfTest } from './self-test.js';

const beat = (host: string, ms: number) => ({ workload: 'w', host, boot: host, ns: ms * 1e6 });

describe('the audit', () => {
  it('finds nothing in a story without fault, and every planted violation', () => {
    const result = selfTest();
    expect(result.clean).toEqual([]);
    expect(result.planted.filter((p) => !p.reported)).toEqual([]);
  });
});

describe('power writes of which the store has no intent any more', () => {
  const [old] = clean().incidents as [IncidentRecord];
  /** The node's later incident has taken the place of the first one, whose revisions are gone. */
  const later: IncidentRecord = { ...old, id: 'i2', commands: [], updatedAt: 20_000 };

  it('are proper where an earlier audit of the lab has seen it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-kept-'));
    try {
      const file = join(folder, 'kept');
      withKept(file, [{ ...old, commands: [] }, old]);
      // An incident that lost a command of its own between two audits keeps it here.
      withKept(file, [{ ...old, commands: [] }]);
      const incidents = withKept(file, [later]);
      expect(findViolations({ ...clean(), incidents })).toEqual([]);
      expect(findViolations({ ...clean(), incidents: [later] }).map((v) => v.kind)).toEqual([
        'BMC_WRITE_WITHOUT_INTENT',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('are told as such, and are no violation, where more revisions were written than it keeps', () => {
    const stored = Array.from({ length: 64 }, (_, n) => ({ ...later, updatedAt: 20_000 + n }));
    expect(cutBefore(stored.slice(1))).toEqual({});
    const e = { ...clean(), incidents: stored, cutBefore: cutBefore(stored) };
    expect(findViolations(e)).toEqual([]);
    expect(unjudged(e)).toHaveLength(1);
    expect(unjudged(clean())).toEqual([]);
    const after = { host: 'h1', op: 'set', what: 'power', value: '0', ns: 25e9, at: 25_000 } as const;
    expect(findViolations({ ...e, bmc: [...e.bmc, after] }).map((v) => v.kind)).toEqual(['BMC_WRITE_WITHOUT_INTENT']);
  });
});

describe('a power write that reached another machine than it was meant for', () => {
  it('has its intent with the node at whose address it was given', () => {
    const e = clean();
    const writes = e.bmc.map((b) => (b.op === 'set' ? { ...b, host: 'h2', asked: b.host } : b));
    const kinds = (bmc: typeof writes): string[] => findViolations({ ...e, bmc }).map((v) => v.kind);
    expect(kinds(writes)).not.toContain('BMC_WRITE_WITHOUT_INTENT');
    expect(kinds(writes.map((b) => ({ ...b, asked: b.host })))).toContain('BMC_WRITE_WITHOUT_INTENT');
  });
});

describe('a workload that went from one living host to another', () => {
  const story = (o: Partial<JobRecord>): ReturnType<typeof clean> => {
    const workloads = { w1: { started: false, stopped: true, reason: '' } };
    const job = {
      ...{ id: 'j1', kind: 'recover', nodes: ['h1-1'], status: 'Complete', settled: true, endedAt: 12_000 },
      recover: [{ workload: 'w1', generation: 2, driver: 'ansible', spec: {}, stop: true }],
      results: { 'h1-1': { ok: true, step: 'recover', workloads } },
      ...o,
    } as JobRecord;
    return { ...clean(), bmc: [], incidents: [], jobs: [job] };
  };

  it('is as it should be where its stop was read back in between, and only then', () => {
    expect(findViolations(story({}))).toEqual([]);
    for (const late of [story({ endedAt: 18_000 }), story({ results: {} }), story({ recover: [] })])
      expect(findViolations(late).map((v) => v.kind)).toEqual(['STARTED_BEFORE_PROOF']);
  });
});

describe('what the collectors can see', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-audit-'));
  const marked = { env: { MUSTER_LAB_DIR: folder, PATH: process.env['PATH'] ?? '' } };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is an ipmitool of this lab that still runs, and none of another lab', async () => {
    const child = daemon('sleep', ['60'], { ...marked, argv0: 'ipmitool' });
    try {
      await once(child, 'spawn');
      expect(leakedTools(folder)).toEqual([`${child.pid} ipmitool 60`]);
      expect(leakedTools(`${folder}-other`)).toEqual([]);
    } finally {
      child.kill('SIGKILL');
      await child;
    }
    expect(leakedTools(folder)).toEqual([]);
  });

  it('is a secret on a command line', async () => {
    const child = daemon('sleep', ['60'], { ...marked, argv0: 'tool -P s3cr3t-of-the-bmc' });
    try {
      await once(child, 'spawn');
      const found = secretsInArgv(folder, { 'bmc password': 's3cr3t-of-the-bmc', other: 'not-there' });
      expect(found).toEqual([`argv of ${child.pid} (bmc password)`]);
    } finally {
      child.kill('SIGKILL');
      await child;
    }
  });

  it('is a secret in any text, by where it stands and what it is', () => {
    const texts = { 'log/a.log': 'power off', 'log/b.log': 'env IPMITOOL_PASSWORD=hunter22hunter22' };
    expect(secretsInTexts(texts, { 'bmc password': 'hunter22hunter22' })).toEqual(['log/b.log (bmc password)']);
  });
});

describe('the ledger', () => {
  it('measures the longest gap over a move, and no overlap', () => {
    const [h] = historyOf([beat('a', 0), beat('a', 50), beat('b', 4050), beat('b', 4100)]);
    expect(h).toMatchObject({ longestGapMs: 4000, longestOverlapMs: 0 });
  });

  it('sees two hosts that ran at the same time, whatever the order of the lines', () => {
    const [h] = historyOf([beat('b', 60), beat('a', 0), beat('b', 20), beat('a', 50)]);
    expect(h?.longestOverlapMs).toBe(30);
  });

  it('does not take a pause of one process for an overlap with the other', () => {
    const [h] = historyOf([beat('a', 0), beat('b', 3000), beat('b', 3050), beat('a', 6000)]);
    expect(h?.longestOverlapMs).toBe(0);
    expect(h?.runs).toHaveLength(3);
  });

  it('skips a line that was cut off', () => {
    expect(parseBeat('{"workload":"w","host":"a","bo')).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { Buckets, defaultFencing, PERMITS_KEY, RESERVATIONS_KEY, type UnreadableRecord } from '#contracts';
import { aWorkload } from '#contracts/testing/a-workload.js';
import { parsedCommand } from '../../apps/cli/src/testing/parsed-command.js';
import { decideBirths } from '../../apps/inventory/src/records/bucket-births.js';
import { recordAlarms, refusedDeletion } from '../../apps/inventory/src/records/record-rules.js';
import { decideLoaded } from '../../apps/inventory/src/records/store-loaded.js';
import { refusedForget } from '../../apps/inventory/src/workloads/forgettable.js';

const records: UnreadableRecord[] = [
  ...Buckets.map((bucket) => ({ bucket, key: 'n-1' })),
  ...[RESERVATIONS_KEY, PERMITS_KEY].map((key) => ({ bucket: 'admission' as const, key })),
].flatMap(({ bucket, key }) =>
  [{}, { sealed: true as const }].map((o) => ({ bucket, key, revision: 1, why: 'it is not JSON', ...o })),
);
const fencing = { ...defaultFencing, mode: 'enforce' as const };
const jobs = [{ id: 'job-1', status: 'Complete' as const, settled: false }];
const loaded = { copied: '2026-11-01T00:00:00.000Z', at: '2026-11-18T00:00:00.000Z' };

const texts: [what: string, text: string | undefined][] = [
  ...records.map((r): [string, string | undefined] => [
    `the refusal to delete ${r.bucket}/${r.key}`,
    refusedDeletion(r, { jobs, fencing, now: 0, knownMs: 0, speaks: () => false, force: false })?.message,
  ]),
  ...records.flatMap((r) => recordAlarms([r])).map((a): [string, string] => [`the alarm of ${a.subject}`, a.message]),
  ...recordAlarms(Array.from({ length: 30 }, (_, n) => ({ ...records[0]!, key: `n-${n}` })))
    .slice(-1)
    .map((a): [string, string] => [`the alarm of ${a.subject}`, a.message]),
  ...[loaded, { ...loaded, found: true as const }]
    .flatMap((l) => decideLoaded({ generation: 5, loaded: l }, []).alarms)
    .map((a): [string, string] => ['the alarm of a store that was loaded', a.message]),
  ...decideBirths(
    new Map(Buckets.map((bucket) => [bucket, new Date(1)])),
    { created: { nodes: 'then' } },
    [],
  ).alarms.map((a): [string, string] => [`the alarm of the bucket ${a.subject}`, a.message]),
];

const onNode = { ...aWorkload('db'), assignment: { node: 'n-1', generation: 1 } };
const recovery: [what: string, text: string | undefined][] = [true, false].map((heard) => [
  `the refusal to forget a workload on a node that was ${heard ? '' : 'never '}heard`,
  refusedForget({ workload: onNode, node: undefined, heard, reason: undefined })?.message,
]);

/** From the program's name to the end of the sentence, or to the words that follow a list of commands. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/\bmuster [a-z].*?(?=[;,)]|: |\. |\.?$| shows | first\b)/g)].map(([command]) => command);

describe('a command in a text of records, of the store and of workloads', () => {
  const named = [...texts, ...recovery].flatMap(([what, text = '']) =>
    commandsIn(text).map((command): [string, string] => [what, command]),
  );

  it.each(named)('of %s is one that the program takes: %s', async (_, command) => {
    const found = await parsedCommand(command);
    expect(found.split(' ').length).toBeGreaterThan(1);
    expect(command.startsWith(found)).toBe(true);
  });

  it('is looked for in all of them', () => {
    expect([...new Set(named.map(([, command]) => command.split(' ').slice(0, 3).join(' ')))].sort()).toEqual([
      'muster alarms ack',
      'muster fencing set',
      'muster incident confirm',
      'muster node fence',
      'muster record delete',
      'muster record list',
      'muster store restored',
      'muster workload delete',
    ]);
  });
});

import { createHash } from 'node:crypto';
import type { Finding, ServiceTestResult, ServiceTestStep } from '#contracts';
import { leftBehind } from './host-snapshot.js';
import type { StepReport, TaskAt } from './step-report.js';
import type { TestPart } from './test-part.js';

type Wrong = ServiceTestResult['wrong'][number];

const SITE = 'tasks/site.yml';
const CHECK = 'tasks/check.yml';
const CLEANUP = 'tasks/cleanup.yml';

/** So many things of one kind are named; of more, their number. */
const MOST_NAMED = 10;

/**
 * What the parts of a test say of the content, each with the file that is to be mended. Nothing wrong, and every part run:
 * the service is as it shall be.
 */
export function judge(service: string, done: readonly TestPart[]): Pick<ServiceTestResult, 'steps' | 'wrong'> {
  const judged = done.map((d, i) => ({ part: d.part, wrong: faults[d.part](d.report, service, done.slice(0, i)) }));
  return {
    steps: judged.map(({ part, wrong }) => ({ step: part, ok: wrong.length === 0 })),
    wrong: judged.flatMap(({ wrong }) => wrong),
  };
}

const faults: Record<ServiceTestStep, (r: StepReport, service: string, earlier: readonly TestPart[]) => Wrong[]> = {
  begin: (r, service) => [
    ...failed(r, CLEANUP, `on a node on which ${service} was never set up`),
    ...(r.ok && r.snapshot === undefined ? [{ file: CLEANUP, what: 'what stands on the node could not be seen' }] : []),
  ],
  site: (r) => failed(r, SITE, ''),
  check: (r, service) => [
    ...failed(r, CHECK, ''),
    ...notOk(r.finding, service, 'right after tasks/site.yml'),
    ...readOnly(r),
  ],
  again: (r) => [
    ...failed(r, SITE, 'in a second run'),
    ...byPlace(r.changed.filter((t) => !isOf(t, CHECK))).map((t) => ({
      file: t.at ?? SITE,
      what: `a second run changed "${t.task}": it is not idempotent`,
    })),
  ],
  edit: (r, service, earlier) => {
    const sources = sourcesOf(earlier);
    if (r.ok && r.edited.length === 0)
      return [
        {
          file: SITE,
          what: 'no file on the node holds what templates/ and files/ do: a change by hand could not be tried',
        },
      ];
    return [
      ...failed(r, CHECK, 'while a file was changed by hand'),
      ...r.edited.flatMap((e) => unseen(e, service, sources)),
    ];
  },
  resetup: (r) => failed(r, SITE, 'after tasks/cleanup.yml'),
  recheck: (r, service) => [
    ...failed(r, CHECK, ''),
    ...notOk(r.finding, service, 'after a change by hand, tasks/cleanup.yml and tasks/site.yml'),
  ],
  end: (r, _service, earlier) => (r.ok ? leftOnHost(r, earlier) : failed(r, CLEANUP, '')),
};

function failed(r: StepReport, file: string, when: string): Wrong[] {
  if (r.ok) return [];
  const { task = '', at, message = '' } = r.failed ?? {};
  const named = task === '' ? 'failed' : `"${task}" failed`;
  return [{ file: at ?? file, what: `${named}${when === '' ? '' : ` ${when}`}: ${oneLine(message)}` }];
}

function notOk(finding: Finding | undefined, service: string, when: string): Wrong[] {
  if (finding === undefined) return [{ file: CHECK, what: `tells nothing of ${service}: it must call muster_check` }];
  if (finding.result === 'ok') return [];
  return [{ file: CHECK, what: `says ${finding.result} ${when}: ${oneLine(finding.why)}` }];
}

const readOnly = (r: StepReport): Wrong[] =>
  byPlace(r.changed).map((t) => ({ file: t.at ?? CHECK, what: `"${t.task}" changed something: a check only looks` }));

/** What counts is that the node would be set up again: broken is as good as drift. */
function unseen(e: StepReport['edited'][number], service: string, sources: ReadonlyMap<string, string>): Wrong[] {
  const source = sources.get(e.path);
  const file = `${e.path}${source === undefined ? '' : ` (${source})`}`;
  if (e.finding?.result === 'drift' || e.finding?.result === 'broken') return [];
  if (e.finding?.result === 'ok') return [{ file: CHECK, what: `says ok although ${file} was changed by hand` }];
  const why = e.finding === undefined ? `it tells nothing of ${service}` : oneLine(e.finding.why);
  return [{ file: CHECK, what: `could not look after ${file} was changed by hand: ${why}` }];
}

function leftOnHost(r: StepReport, earlier: readonly TestPart[]): Wrong[] {
  const before = earlier.find((d) => d.part === 'begin')?.report.snapshot;
  if (before === undefined || r.snapshot === undefined)
    return [{ file: CLEANUP, what: 'what stands on the node could not be seen, so what it leaves is not known' }];
  const during = earlier.flatMap((d) =>
    d.part === 'begin' || d.report.snapshot === undefined ? [] : [d.report.snapshot],
  );
  const rendered = new Set(earlier.flatMap((d) => d.report.rendered.map(([, sha256]) => sha256)));
  rendered.delete(EMPTY);
  const { left, changed } = leftBehind(before, during, r.snapshot, rendered);
  return [
    ...(left.length > 0 ? [{ file: CLEANUP, what: `left ${named(left)}` }] : []),
    ...(changed.length > 0 ? [{ file: CLEANUP, what: `does not put back as it was: ${named(changed)}` }] : []),
  ];
}

/** Path on the node → the template or the file that it comes from. */
export function sourcesOf(done: readonly TestPart[]): Map<string, string> {
  const rendered = new Map(done.flatMap((d) => d.report.rendered.map(([source, sha256]) => [sha256, source] as const)));
  rendered.delete(EMPTY);
  const before = done.find((d) => d.part === 'begin')?.report.snapshot?.files ?? {};
  const files = done.find((d) => d.part === 'site')?.report.snapshot?.files ?? {};
  return new Map(
    Object.entries(files).flatMap(([path, mark]) => {
      const source = before[path] === mark ? undefined : rendered.get(mark);
      return source === undefined ? [] : [[path, source] as const];
    }),
  );
}

/** SHA-256 of nothing: files that are empty stand on every host. */
const EMPTY = createHash('sha256').digest('hex');

const isOf = (t: TaskAt, file: string): boolean => t.at?.startsWith(`${file}:`) === true || t.at === file;

/** A loop that changed several items is one task. */
const byPlace = (tasks: readonly TaskAt[]): TaskAt[] => [
  ...new Map(tasks.map((t) => [`${t.at ?? ''} ${t.task}`, t])).values(),
];

const named = (all: readonly string[]): string =>
  all.length <= MOST_NAMED
    ? all.join(', ')
    : `${all.slice(0, MOST_NAMED).join(', ')} and ${all.length - MOST_NAMED} more`;

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
};

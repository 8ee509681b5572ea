import { closedPhases, type IncidentPhase } from '#contracts/incident/incident.js';
import { isEndedJob, JobStatuses, type JobStatus } from '#contracts/job/job.js';
import { phaseChanges } from '#domain/incident/phases.js';
import { jobBeginnings, jobChanges, type JobChange, type JobEvent } from '#domain/job/changes.js';
import { NodeStates, stateAfter, stateBeginnings, type StateCause } from '#domain/node/state.js';
import { statusChanges, type StatusChange } from '#domain/node/status.js';
import { wishTable, type WishRow } from '#domain/power/power-wish.js';
import { checkedTable, stageByCheck, type CheckedRow } from '#domain/return/after-check.js';
import { resetupTable, stageByResetup, type ResetupRow } from '#domain/return/after-resetup.js';
import { verdictTable, type VerdictRow } from '#domain/return/check-verdict.js';
import { returnTable, stageByReturn, type ReturnRow } from '#domain/return/return-table.js';
import type { ReturnStage } from '#domain/return/stage.js';
import { turnTable, type TurnRow } from '#domain/return/turn.js';
import { workloadChanges, type WorkloadChange, type WorkloadEvent } from '#domain/workload/changes.js';
import { WorkloadStages, type WorkloadStage } from '#domain/workload/stage.js';
import { markdownTable, OUTSIDE, stateDiagram, type Arrow } from './markdown.js';
import {
  checkedStepTexts,
  jobEventTexts,
  jobTexts,
  nodeStateTexts,
  phaseTexts,
  powerStepTexts,
  resetupStepTexts,
  returnReasonTexts,
  returnStepTexts,
  returnTexts,
  stageTexts,
  statusTexts,
  wishTexts,
  workloadEventTexts,
  type StateText,
} from './state-texts.js';

const HEAD = `# States

What an incident, the power of a node, a workload, a job, a node and its return can be, and what ends each state. Every change
is a compare-and-set on the record that was decided on. The pictures of incident, workload, job and status, and the lists of
a workload's and a job's changes, are made from the tables in the code: there, what is not in the table cannot be written.
So is that of a node's state. Those of power and of a return are made from the tables that decide about them.
A state that stays what it is is not drawn. Written by \`muster manual states > docs/states.md\`; the words are those of the [glossary](glossary.md).`;

/** `docs/states.md`. */
export const statesPage = (): string =>
  `${[HEAD, incident(), power(), workload(), job(), node(), comeback()].join('\n\n')}\n`;

const code = (name: string): string => `\`${name}\``;
const tableOf = (texts: Readonly<Record<string, StateText>>): string =>
  markdownTable([
    ['state', 'what it means', 'what ends it'],
    ...Object.entries(texts).map(([state, [meaning, ends]]) => [code(state), meaning, ends]),
  ]);
const meanings = (head: string, texts: Readonly<Record<string, string>>): string =>
  markdownTable([[head, 'what it means'], ...Object.entries(texts).map(([name, text]) => [code(name), text])]);

function incident(): string {
  const first: readonly IncidentPhase[] = ['investigating', 'closed'];
  const arrows: Arrow[] = [
    ...first.map((to) => ({ from: OUTSIDE, to })),
    ...phaseChanges.map(({ from, to, by, uncommanded }) => ({
      from,
      to,
      label: `${by.join(' or ')}${uncommanded === true ? ', before the first off' : ''}`,
    })),
    ...closedPhases.map((from) => ({ from, to: OUTSIDE })),
  ];
  return [
    '## Incident',
    'The key of a node in bucket `incidents`, field `phase`. The table: `libs/domain/src/incident/phases.ts`. An arrow names the service that writes the change.',
    stateDiagram(arrows),
    tableOf(phaseTexts),
  ].join('\n\n');
}

const either = (names: readonly string[]): string => [...new Set(names)].join(', ').replace(/, ([^,]*)$/, ' or $1');

/** How a wish begins and ends: by the table of phases, and by the member of the record that it stands in. */
function wishArrows([name, { phases, member }]: [string, WishRow]): Arrow[] {
  const left = phaseChanges.filter(({ from, to }) => phases.includes(from) && !phases.includes(to));
  const before = left.filter(({ uncommanded }) => uncommanded === true);
  const ends = [
    ...(member === undefined ? [] : ['done']),
    either(left.filter((c) => !before.includes(c)).map(({ to }) => to)),
    ...(before.length === 0 ? [] : [`before the first off ${either(before.map(({ to }) => to))}`]),
  ];
  return [
    { from: 'nothing', to: name, label: member === undefined ? either(phases) : `${member}, once ${either(phases)}` },
    { from: name, to: 'nothing', label: ends.join(', ') },
  ];
}

const power = (): string =>
  [
    '## Power',
    "What the record of a node wants of its power: `powerWish` in `libs/domain/src/power/power-wish.ts`. The fencing leader alone acts on it, and does one thing at a time. Off beats on; an order waits until the node's incident is recovered or over. A cycle is a fencing, and an `on` after it. An arrow that begins a wish names the phases of the incident in which it can be, and the member of the record that it stands in; one that ends it, the phases that do, and `done` where the member says so. Both are made from `wishTable` and the phases.",
    stateDiagram(Object.entries(wishTable).flatMap(wishArrows)),
    tableOf(wishTexts),
    'The next step of the leader: `nextPowerStep` in `libs/domain/src/power/next-step.ts`.',
    meanings('step', powerStepTexts),
    'After the last `off` ended, or its owner was lost, the power quarantine stands (`libs/domain/src/power/quarantine.ts`): until it has passed nobody powers the node on, releases it or sets it up anew.',
  ].join('\n\n');

/** By operators, or against the way of the others: they stand in the table, and would hide the way in a picture. */
const undrawn: readonly WorkloadEvent['kind'][] = ['put', 'restored', 'corrected'];

const changes = Object.entries(workloadChanges) as [WorkloadEvent['kind'], WorkloadChange][];
const waysOf = ({ stages }: WorkloadChange): [from: WorkloadStage, to: readonly WorkloadStage[]][] =>
  WorkloadStages.flatMap((from) => (stages[from] === undefined ? [] : [[from, stages[from]]]));

function workload(): string {
  const arrows = changes
    .filter(([kind]) => !undrawn.includes(kind))
    .flatMap(([kind, change]) =>
      waysOf(change).flatMap(([from, to]) => to.filter((s) => s !== from).map((s) => ({ from, to: s, label: kind }))),
    );
  return [
    '## Workload',
    `Its stage by its record in bucket \`workloads\` alone: \`stageOf\` in \`libs/domain/src/workload/stage.ts\`. The table of changes: \`libs/domain/src/workload/changes.ts\`. The picture is without ${listed(undrawn)}; these stand in the table below.`,
    stateDiagram(arrows),
    tableOf(stageTexts),
    'Where a change raises the generation, nodes and start gates refuse every order of before.',
    markdownTable([
      ['change', 'what has happened', 'in', 'ends in', 'generation'],
      ...changes.map(([kind, change]) => [
        code(kind),
        workloadEventTexts[kind],
        stages(waysOf(change).map(([from]) => from)),
        stages(WorkloadStages.filter((s) => waysOf(change).some(([, to]) => to.includes(s)))),
        change.generation,
      ]),
    ]),
    'What is shown beside it (`running`, `held`, `no-room`, …) is computed at every read: [alarms.md](alarms.md#what-is-with-a-workload).',
  ].join('\n\n');
}

const listed = (names: readonly string[]): string => names.map(code).join(', ');

function stages(of: readonly WorkloadStage[]): string {
  const others = WorkloadStages.filter((s) => !of.includes(s));
  if (others.length === 0) return 'any';
  return others.length < of.length ? `any but ${listed(others)}` : listed(of);
}

const eventsOfJobs = Object.entries(jobChanges) as [JobEvent['kind'], JobChange][];
const statusesOf = ({ statuses }: JobChange): [from: JobStatus, to: JobStatus][] =>
  JobStatuses.flatMap((from) => (statuses[from] === undefined ? [] : [[from, statuses[from]]]));

function job(): string {
  const arrows: Arrow[] = [
    ...Object.entries(jobBeginnings).map(([label, to]) => ({ from: OUTSIDE, to, label })),
    ...eventsOfJobs.flatMap(([label, change]) =>
      statusesOf(change).flatMap(([from, to]) => (from === to ? [] : [{ from, to, label }])),
    ),
    ...JobStatuses.filter((status) => isEndedJob({ status })).map((from) => ({ from, to: OUTSIDE })),
  ];
  return [
    '## Job',
    'A record in bucket `jobs`, field `status`. Inventory admits, the worker that holds its lease carries it out (`apps/provisioner/src/jobs`). The table of changes: `libs/domain/src/job/changes.ts`. Whoever waits for its end waits until it is `settled` as well: then inventory has carried its results into the nodes. Where a record was lost, another one takes its place (`lost`).',
    stateDiagram(arrows),
    tableOf(jobTexts),
    'Where a change raises the generation, a worker that saw the job as it was before takes nothing of it, and writes nothing into it.',
    markdownTable([
      ['change', 'what has happened', 'in', 'becomes', 'generation'],
      ...eventsOfJobs.map(([kind, change]) => [
        code(kind),
        jobEventTexts[kind],
        listed(statusesOf(change).map(([from]) => from)),
        listed([...new Set(statusesOf(change).map(([, to]) => to))]),
        change.generation,
      ]),
    ]),
  ].join('\n\n');
}

const endings: Record<StatusChange['when'], string> = {
  begins: 'begins',
  succeeds: 'succeeds',
  fails: 'fails',
  unbegun: 'never began',
};

const stateCauses = Object.entries(stateAfter) as [StateCause, (typeof stateAfter)[StateCause]][];

const node = (): string =>
  [
    '## Node',
    'A node has several axes, each with a writer of its own.',
    '### Status',
    'The lifecycle: it changes by a job alone. The table: `libs/domain/src/node/status.ts`.',
    stateDiagram(statusChanges.map(({ from, to, by, when }) => ({ from, to, label: `${by} ${endings[when]}` }))),
    tableOf(statusTexts),
    '### State',
    'Is the node heard? In any status. The table: `libs/domain/src/node/state.ts`. `UP`, `DEGRADED`, `DOWN` and `LEFT` are verdicts of the detector; `SUSPECT` and `UNKNOWN` leave it as it is. `monitor-discovered` and `monitor-disappeared`: an external monitor reports a node without an agent. `proven-off`: a fencing has proven it off. `proof-void`: that proof is void. `revoked`: its agent was revoked.',
    stateDiagram([
      ...Object.entries(stateBeginnings).map(([label, to]) => ({ from: OUTSIDE, to, label })),
      ...stateCauses.flatMap(([label, to]) =>
        to === undefined ? [] : NodeStates.filter((from) => from !== to).map((from) => ({ from, to, label })),
      ),
    ]),
    tableOf(nodeStateTexts),
    '### In service',
    'Beside these an operator sets and ends a `cordon`, and the system sets `maintenance` after a fencing and ends it when the check has passed. Whether a node is in service is computed from all of them at every read, and never stored: [the reasons](alarms.md#why-a-node-is-out-of-service).',
  ].join('\n\n');

/** By hand: what begins a return, and what people do. */
const otherReturns: readonly (readonly [from: ReturnStage | typeof OUTSIDE, to: ReturnStage, why: string])[] = [
  [OUTSIDE, 'due', 'heard again'],
  ['held', 'due', 'drift accepted, or a new boot'],
];

const returnRows = Object.entries<ReturnRow>(returnTable);
const resetupRows = Object.entries<ResetupRow>(resetupTable);
const checkedRows = Object.entries<CheckedRow>(checkedTable);

/** The stages that a row ends, and the one that begins by it. */
const rowArrows = (label: string, from: readonly ReturnStage[], to: ReturnStage | undefined): Arrow[] =>
  to === undefined ? [] : from.filter((stage) => stage !== to).map((stage) => ({ from: stage, to, label }));

const rowsTable = (head: string, rows: readonly (readonly [name: string, when: string, done: string])[]): string =>
  markdownTable([['row', 'where', head], ...rows.map(([name, when, done]) => [code(name), when, done])]);

const comeback = (): string =>
  [
    '## Return',
    'An `Allocated` node that is heard again after an absence: member `pendingReturn` of its record. What is done about it stands in tables in `libs/domain/src/return`: `returnTable` (`return-table.ts`) has what is begun for it, `checkedTable` (`after-check.ts`) and `resetupTable` (`after-resetup.ts`) what its check and its re-setup make of it. An arrow names the row; those in small letters are in no table.',
    stateDiagram([
      ...otherReturns.map(([from, to, label]) => ({ from, to, label })),
      ...returnRows.flatMap(([name, row]) => rowArrows(name, row.from, stageByReturn(row))),
      ...checkedRows.flatMap(([name, row]) => rowArrows(name, row.from, stageByCheck[row.do])),
      ...resetupRows.flatMap(([name, row]) => rowArrows(name, row.from, stageByResetup[row.do])),
    ]),
    tableOf(returnTexts),
    meanings('reason', returnReasonTexts),
    'What is begun for a pending return, by the first row that holds; where none does, it waits:',
    rowsTable(
      'what is done',
      returnRows.map(([name, row]) => [name, row.reason, returnStepTexts[row.do]]),
    ),
    'A re-setup begins only in its turn (`turnTable` in `turn.ts`). By the first row that holds its job is refused; that of a return is asked for again:',
    markdownTable([
      ['row', 'where'],
      ...Object.entries<TurnRow>(turnTable).map(([name, row]) => [code(name), row.reason]),
    ]),
    'What a check says of its node, by the first row that holds (`verdictTable` in `check-verdict.ts`):',
    rowsTable(
      'what it says',
      Object.entries<VerdictRow>(verdictTable).map(([name, row]) => [name, row.reason, code(row.outcome)]),
    ),
    'What is done about it, by the first row of `checkedTable` that holds:',
    rowsTable(
      'what is done',
      checkedRows.map(([name, row]) => [name, row.reason, checkedStepTexts[row.do]]),
    ),
    'What is done about a node whose re-setup has ended, by the first row that holds:',
    rowsTable(
      'what is done',
      resetupRows.map(([name, row]) => [name, row.reason, resetupStepTexts[row.do]]),
    ),
    'What check and re-setup have told is gathered, and what is done is written, in `apps/inventory/src/plan/jobs/settle.ts`.',
  ].join('\n\n');

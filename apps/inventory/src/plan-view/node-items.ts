import { isEndedJob, waitsForMoves, type PlanItem } from '#contracts';
import { returnTable, type ReturnRow, type ReturnRowName } from '#domain/return/return-table.js';
import { START_FAILED } from '#domain/workload/failed-starts.js';
import { PERIOD_MS } from '../conductor/task.js';
import { whyCalledOff } from '../plan/checks/checks-called-off.js';
import { CHECK_DUE } from '../plan/checks/periodic-checks.js';
import type { ItemText, PlanFacts } from './plan-facts.js';
import { quarantineFigure } from './power-items.js';

/** Storms that stand. */
export const stormItems = (f: PlanFacts): PlanItem[] =>
  f.storms.map((s) => ({
    about: 'storm',
    name: s.id,
    nodes: s.members,
    does: 'waits',
    next: 'is over',
    reason: s.detail,
    figures: [
      s.restDomain === undefined
        ? { of: 'members that are not back', count: s.rest.length, limit: s.limit }
        : { of: `nodes of ${s.restDomain.name} that are not back`, count: s.restDomain.rest, limit: s.limit },
    ],
    again:
      s.resumesAt === undefined
        ? { when: 'an operator has released or confirmed its members, or they are back' }
        : { inMs: Math.max(0, s.resumesAt - f.wallMs), when: 'a member is back' },
  }));

/** Why a node is emptied, or a workload taken from it. */
function why(cause: string): string {
  if (cause.startsWith('job:')) return `Job ${cause.slice('job:'.length)} waits for it.`;
  if (cause === START_FAILED) return 'It was tried there again and again, and did not start.';
  return cause === 'drain' ? 'The node is drained.' : 'The node stays DEGRADED.';
}

/** Nodes that are being emptied. */
export function drainItems({ moves }: PlanFacts): PlanItem[] {
  if (moves === undefined) return [];
  const { leaving, moving, plan } = moves;
  const item = (node: string, o: Omit<PlanItem, 'about' | 'name'>): PlanItem => ({ about: 'drain', name: node, ...o });
  const begun = [
    ...plan.begin.map(({ workload, move }) =>
      item(move.from, {
        nodes: [move.from, move.to],
        does: 'acts',
        next: `begins to move ${workload} to ${move.to}`,
        reason: why(move.cause),
        again: { inMs: PERIOD_MS },
      }),
    ),
    ...plan.release.map(({ workload, node }) =>
      item(node, {
        nodes: [node],
        does: 'acts',
        next: `takes ${workload} from the node`,
        reason: 'It shall not run, and does not.',
        again: { inMs: PERIOD_MS },
      }),
    ),
  ];
  const stuck = [...plan.stuck].map(([node, reasons]) =>
    item(node, {
      nodes: [node],
      does: 'waits',
      next: 'empties the node',
      reason: reasons.join(' '),
      again: { when: 'that has changed' },
    }),
  );
  const told = new Set([...begun, ...stuck].map((i) => i.name));
  const rest = [...leaving]
    .filter(([node]) => !told.has(node))
    .flatMap(([node, cause]) => {
      const names = moving.filter((w) => w.move?.from === node).map((w) => w.name);
      if (names.length === 0) return [];
      return [
        item(node, {
          nodes: [node],
          does: 'waits',
          next: 'empties the node',
          reason: `${why(cause)} ${names.join(', ')} is on its way.`,
          again: { when: 'it runs elsewhere' },
        }),
      ];
    });
  return [...begun, ...stuck, ...rest];
}

/** Nodes that are back and not yet in service, as their records have it. */
export const returnItems = (f: PlanFacts): PlanItem[] =>
  f.returns.flatMap(({ node, row, waitMs, quarantine, quarantineLeftMs: left }): PlanItem[] => {
    const p = node.pendingReturn;
    if (p === undefined) return [];
    const base = { about: 'return' as const, name: node.name, nodes: [node.name], does: 'waits' as const };
    const next = p.next === 'resetup' ? 'sets it up again' : 'checks it';
    if (p.held !== undefined) return [{ ...base, next, reason: p.held, again: { when: goesOn.OPERATOR_ASKED } }];
    if (row === 'QUARANTINED' && quarantine !== undefined)
      return [
        {
          ...base,
          next,
          reason: `It is back (${p.reason}), and ${quarantine}.`,
          ...(left > 0 && { figures: [quarantineFigure(left)] }),
          again: left > 0 ? { inMs: left } : { when: 'that is done' },
        },
      ];
    const failed = p.unreached === undefined ? '' : ` ssh did not get there ${p.unreached.tries} time(s).`;
    return [{ ...base, ...returnText(row, { back: `It is back (${p.reason})`, next, waitMs, failed }) }];
  });

/** Rows of the table by which a return waits. */
type WaitRowName = {
  [R in ReturnRowName]: (typeof returnTable)[R]['do'] extends 'wait' ? R : never;
}[ReturnRowName];

/** What has to change before a row lets the return go on. */
const goesOn: Readonly<Record<WaitRowName, string>> = {
  OPERATOR_ASKED: 'an operator has decided, or its cause is gone',
  CORDONED: 'it is uncordoned',
  NOT_ALLOCATED: 'it is Allocated',
  NOT_REACHABLE: 'it is heard on management',
  RESERVED: 'that job or edit has ended',
  INCIDENT: 'its incident is recovered or over',
  QUARANTINED: 'the power quarantine is over',
  CHECKED_IN_VAIN: 'the backoff is over',
  HELD_FOR_WORK: 'nothing runs there any more, or an operator has decided',
};
const isWaitRow = (name: ReturnRowName): name is WaitRowName => Object.hasOwn(goesOn, name);

function returnText(
  name: ReturnRowName | undefined,
  o: { back: string; next: string; waitMs: number; failed: string },
): ItemText {
  const { back, next, waitMs, failed } = o;
  const waits = { does: 'waits' as const, next };
  if (name === undefined)
    return {
      ...{ ...waits, reason: `${back} and waits: nobody has said yet whether anything runs there.${failed}` },
      again: { when: 'its reports name what it runs, or have not for too long' },
    };
  const row: ReturnRow = returnTable[name];
  const text = row.reason.replaceAll('`', '');
  if (isWaitRow(name))
    return {
      ...{ ...waits, reason: `${back} and waits: ${text}.${failed}` },
      again: name === 'CHECKED_IN_VAIN' ? { inMs: waitMs } : { when: goesOn[name] },
    };
  const reason = `${back}: ${text}.${failed}`;
  // Few are dealt with at once, the longest that is back first.
  if (row.do === 'check' || row.do === 'resetup') return { ...waits, reason, again: { when: 'its turn comes' } };
  const acts = row.do === 'hold' ? 'asks an operator' : 'checks it';
  return { does: 'acts', next: acts, reason, again: { inMs: PERIOD_MS } };
}

/** Periodic checks that begin, or that are called off: by the job, the node that it holds. */
export function checkItems({ checks }: PlanFacts): PlanItem[] {
  const item = (node: string, next: string, reason: string): PlanItem => ({
    ...{ about: 'check', name: node, nodes: [node], does: 'acts', next, reason },
    again: { inMs: PERIOD_MS },
  });
  return [
    ...checks.off.flatMap((j) => j.nodes.map((node) => item(node, `calls ${j.id} off`, whyCalledOff(j)))),
    ...checks.begin.map((node) => item(node, 'checks it', CHECK_DUE)),
  ];
}

/** Ends of cordons. */
export const cordonItems = ({ cordons }: PlanFacts): PlanItem[] =>
  cordons.map(({ node, cordon, leftMs }) => ({
    ...{ about: 'cordon', name: node, nodes: [node], does: leftMs > 0 ? 'waits' : 'acts', next: 'ends its cordon' },
    reason: `${cordon.by} cordoned it until then: ${cordon.reason}.`,
    again: { inMs: leftMs > 0 ? leftMs : PERIOD_MS },
  }));

/** Operations that have not ended, or whose nodes have not followed. */
export const jobItems = (f: PlanFacts): PlanItem[] =>
  f.jobs.map((j) => {
    const base = { about: 'job' as const, name: j.id, nodes: j.nodes, does: 'waits' as const };
    const what = `${j.kind} of ${j.nodes.join(', ')}`;
    if (isEndedJob(j))
      return {
        ...{ ...base, does: 'acts' as const, next: 'is settled' },
        reason: `${what} has ended, and its nodes have not followed. Where that lasts, task job-settlement in muster status says why.`,
        again: { inMs: PERIOD_MS },
      };
    if (waitsForMoves(j)) {
      const hindered = j.nodes.flatMap((node) => f.moves?.hindered.get(node) ?? []);
      const why = hindered.length > 0 ? hindered.join(' ') : `${(j.moving ?? []).join(', ')} has to leave first.`;
      return {
        ...base,
        next: 'is given to a worker',
        reason: `${what}: ${why}`,
        again: { when: `nothing is left on ${j.nodes.join(', ')}, nor is anything under way against their power` },
      };
    }
    if (j.status === 'Queued')
      return { ...base, next: 'is taken by a worker', reason: `${what}.`, again: { when: 'a live worker takes it' } };
    return {
      ...base,
      next: 'is settled',
      reason: `${what} runs on ${j.worker ?? '?'}.`,
      again: { when: 'it has ended' },
    };
  });

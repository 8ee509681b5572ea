import type { NodeResult, ServiceTestStep } from '#contracts';
import type { NextStep, PipelineInput } from './step-order.js';
import { judge, sourcesOf } from '../service-test/judge.js';
import type { TestPart, TestRun } from '../service-test/test-part.js';

/** So many files are changed by hand: each costs a check. */
const MOST_EDITED = 20;

/** What follows a part that went well; after one that did not, cleanup. A check's findings do not stop it. */
const following: Record<ServiceTestStep, ServiceTestStep | undefined> = {
  begin: 'site',
  site: 'check',
  check: 'again',
  again: 'edit',
  edit: 'resetup',
  resetup: 'recheck',
  recheck: 'end',
  end: undefined,
};

/**
 * The next part of a service's test, from those that have been run. Whatever was set up is taken away again, also after a
 * cancel and at a time limit, which do not end that; a worker that takes it over begins anew, with cleanup.
 */
export function nextOfTest(input: PipelineInput): NextStep {
  const { done, ending, resumed, nodes } = input;
  const parts = done.flatMap((d) => (d.test === undefined ? [] : [d.test]));
  // What could not be run at all shows nothing of the content.
  const broken = done.find((d) => d.test === undefined);
  const last = parts.at(-1);
  if (last === undefined && ending !== undefined && resumed && broken === undefined) return run(nodes, { part: 'end' });
  const next =
    broken !== undefined || (last === undefined && ending !== undefined) ? undefined : partAfter(last, ending);
  if (next === undefined) return ended(input, parts, broken?.results);
  return run(nodes, next === 'edit' ? { part: next, files: targets(parts) } : { part: next });
}

function partAfter(last: TestPart | undefined, ending: string | undefined): ServiceTestStep | undefined {
  if (last === undefined) return 'begin';
  // Nothing was set up yet.
  if (last.part === 'begin' && (ending !== undefined || !last.report.ok)) return undefined;
  if (last.part === 'end') return undefined;
  return ending !== undefined || !last.report.ok ? 'end' : following[last.part];
}

const run = (nodes: readonly string[], test: TestRun): NextStep => ({
  run: 'service-test',
  nodes: [...nodes],
  cancellable: test.part !== 'end',
  test,
});

const targets = (parts: readonly TestPart[]): string[] => [...sourcesOf(parts).keys()].sort().slice(0, MOST_EDITED);

function ended(input: PipelineInput, parts: readonly TestPart[], broken?: Record<string, NodeResult>): NextStep {
  const { ending, nodes, service = '' } = input;
  // What a cancel has cut off shows nothing of the content.
  const cut = new Set(input.done.flatMap((d) => (d.cancelled && d.test !== undefined ? [d.test] : [])));
  const { steps, wrong } = judge(
    service,
    parts.filter((p) => !cut.has(p)),
  );
  const [first, ...more] = wrong;
  const isWhole = parts.at(-1)?.part === 'end' && parts.length === Object.keys(following).length;
  const left = parts.length > 1 && !(parts.at(-1)?.part === 'end' && parts.at(-1)?.report.ok === true);
  const why =
    ending ??
    Object.values(broken ?? {})[0]?.message ??
    (first === undefined
      ? 'it was not tested whole'
      : `${first.file}: ${first.what}${more.length > 0 ? ` (and ${more.length} more)` : ''}`);
  const ok = ending === undefined && broken === undefined && isWhole && first === undefined;
  const message = left ? `${why}; what is left of ${service} may stand on the node` : why;
  const { hostGroup = '', mode = '' } = parts[0] ?? {};
  const test = { service, hostGroup, mode, steps, wrong };
  const result: NodeResult = { ok, step: 'service-test', ...(ok ? {} : { message }), test };
  return {
    end: ok ? 'Complete' : 'Errored',
    error: ok ? '' : message,
    results: Object.fromEntries(nodes.map((n) => [n, result])),
  };
}

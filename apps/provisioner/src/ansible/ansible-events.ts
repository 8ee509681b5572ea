import { createHash } from 'node:crypto';
import type { Finding, NodeResult } from '#contracts';
import { readHardware } from './hardware-facts.js';

/** Playbook of a step; `release` ends what a run that was cut off has left on its nodes. */
export type Step = 'site' | 'cleanup' | 'check' | 'recover' | 'discover' | 'install' | 'release' | 'service-test';

/** How the run as a whole ended. */
export interface RunEnd {
  exitCode: number | null;
  /** It was ended from here: why. */
  ended?: 'cancelled' | 'time-limit' | 'lease-lost';
  /** Of what was cancelled, where there is more to say. */
  why?: string;
  /** Last lines of the output: told where Ansible stopped before it got to a node. */
  tail: string;
}

interface Seen {
  failed?: { task: string; message: string; unreachable: boolean };
  recap?: { failures: number; unreachable: number; changed: number };
  findings: Map<string, Finding>;
  checksum?: string;
  /** Of the operator's own services, each. */
  effective: Map<string, string>;
  workloads?: NonNullable<NodeResult['workloads']>;
  hardware?: NonNullable<NodeResult['hardware']>;
}

/**
 * What the event lines of a run say of each node. A broken last line (the run was killed while writing) is passed
 * over; a node that Ansible never finished with is not ok.
 */
export function nodeResults(
  step: Step,
  nodes: readonly string[],
  lines: readonly string[],
  end: RunEnd,
  expected?: ReadonlyMap<string, readonly string[]>,
): Record<string, NodeResult> {
  const seen = new Map<string, Seen>(nodes.map((n) => [n, { findings: new Map(), effective: new Map() }]));
  for (const line of lines) {
    const event = parseEvent(line);
    const node = event === undefined ? undefined : seen.get(text(event['host']));
    if (event !== undefined && node !== undefined) take(node, event);
  }
  return Object.fromEntries(
    [...seen].map(([name, node]) => [name, resultOf(step, node, end, expected?.get(name) ?? [])]),
  );
}

/** What the nodes said of themselves under the name `facts`, to be judged by who asked for it; the last word counts. */
export function factsOf(lines: readonly string[]): Map<string, unknown> {
  const facts = new Map<string, unknown>();
  for (const event of lines.map(parseEvent))
    if (event?.['event'] === 'data' && isObject(event['data']) && 'facts' in event['data'])
      facts.set(text(event['host']), event['data']['facts']);
  return facts;
}

function take(node: Seen, event: Record<string, unknown>): void {
  if (event['event'] === 'task') {
    const bad = event['status'] === 'failed' || event['status'] === 'unreachable';
    if (bad && event['ignored'] !== true)
      node.failed = {
        task: text(event['task']),
        message: text(event['message']),
        unreachable: event['status'] === 'unreachable',
      };
  } else if (event['event'] === 'recap') {
    const count = (name: string): number => Number(event[name]) || 0;
    node.recap = { failures: count('failures'), unreachable: count('unreachable'), changed: count('changed') };
  } else if (event['event'] === 'data' && isObject(event['data'])) takeData(node, event['data']);
}

function takeData(node: Seen, data: Record<string, unknown>): void {
  for (const finding of findingsOf(data))
    node.findings.set(finding.service, worse(node.findings.get(finding.service), finding));
  if (typeof data['checksum'] === 'string' && data['checksum'] !== '') node.checksum = data['checksum'];
  const effective = data['effective'];
  if (isObject(effective) && typeof effective['service'] === 'string' && typeof effective['checksum'] === 'string')
    node.effective.set(effective['service'], effective['checksum']);
  const hardware = readHardware(data['hardware']);
  if (hardware !== undefined) node.hardware = hardware;
  if (isObject(data['workloads']))
    for (const [name, said] of Object.entries(data['workloads']))
      if (isObject(said))
        (node.workloads ??= {})[name] = {
          started: said['started'] === true,
          ...(said['stopped'] === true && { stopped: true }),
          reason: text(said['reason']),
          ...(isGeneration(said['seen']) && { seen: said['seen'] }),
        };
}

export const findingsOf = (data: Record<string, unknown>): Finding[] =>
  [data['finding'], ...(Array.isArray(data['findings']) ? (data['findings'] as unknown[]) : [])].filter(isFinding);

const isGeneration = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;

function resultOf(step: Step, node: Seen, end: RunEnd, expected: readonly string[]): NodeResult {
  const base = {
    step,
    ...(node.recap === undefined ? {} : { changed: node.recap.changed }),
    ...(node.workloads === undefined ? {} : { workloads: node.workloads }),
    ...(node.hardware === undefined ? {} : { hardware: node.hardware }),
  };
  const recapOk = node.recap !== undefined && node.recap.failures === 0 && node.recap.unreachable === 0;
  if (!recapOk || end.ended !== undefined) return { ok: false, ...base, ...whyNot(node, end) };
  const unreported = expected.filter((s) => {
    const found = node.findings.get(s);
    return found === undefined || (found.result !== 'unknown' && !node.effective.has(s));
  });
  if ((step === 'check' || step === 'site') && unreported.length > 0)
    return { ok: false, ...base, message: `nothing was told of ${unreported.join(', ')}: ${UNTOLD}` };
  const checksum = wholeChecksum(node);
  if (step === 'check') {
    if (checksum === undefined)
      return { ok: false, ...base, message: 'the check told no checksum of the effective configuration' };
    return { ok: true, ...base, check: { findings: [...node.findings.values()], checksum } };
  }
  const services = step === 'site' ? [...node.findings.keys()].sort() : [];
  return {
    ok: true,
    ...base,
    ...(checksum === undefined ? {} : { checksum }),
    ...(services.length > 0 && { services }),
  };
}

const UNTOLD = 'does its tasks/check.yml call muster_check, and does the playbook include the services?';

/** Of the playbooks' own part and of every service; without services it is the former. */
function wholeChecksum(node: Seen): string | undefined {
  if (node.checksum === undefined || node.effective.size === 0) return node.checksum;
  const services = [...node.effective].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([node.checksum, services]))
    .digest('hex');
}

function whyNot(node: Seen, end: RunEnd): Pick<NodeResult, 'failedTask' | 'message' | 'unreachable'> {
  if (end.ended === 'cancelled') return { message: end.why ?? 'cancelled' };
  if (node.failed !== undefined) {
    const { task, message, unreachable } = node.failed;
    return { failedTask: task, message, ...(unreachable && { unreachable }) };
  }
  if (end.ended === 'time-limit') return { message: 'ended at its time limit' };
  if (end.ended === 'lease-lost') return { message: 'ended with its worker’s lease' };
  const code = end.exitCode === null ? 'a signal' : `exit code ${end.exitCode}`;
  return { message: `Ansible did not finish with this node (${code})${end.tail === '' ? '' : `: ${end.tail}`}` };
}

/** One line of the run's events. */
export function parseEvent(line: string): Record<string, unknown> | undefined {
  if (line === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    // Half a line: the writer was killed. What it would have said is missing, and so counts as not done.
    return undefined;
  }
}

const text = (x: unknown): string => (typeof x === 'string' ? x : (JSON.stringify(x) ?? ''));

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

/** What is certain goes before what could not be looked at. */
const SEVERITY = ['ok', 'unknown', 'drift', 'broken'] as const;

/** Of several findings about one service the worst counts: one that looks away from it is no pass. */
export function worse(one: Finding | undefined, { service, result, why, digest }: Finding): Finding {
  const other: Finding = { service, result, why, ...(digest !== undefined && { digest }) };
  if (one === undefined) return other;
  const [lesser, greater] = SEVERITY.indexOf(one.result) > SEVERITY.indexOf(result) ? [other, one] : [one, other];
  const told = lesser.result === 'ok' && greater.result !== 'ok' ? [greater] : [greater, lesser];
  const { digest: _own, ...rest } = greater;
  const isWhole = told.every((f) => f.result !== 'drift' || f.digest !== undefined);
  const digests = isWhole ? told.flatMap((f) => f.digest ?? []).join('+') : '';
  return { ...rest, why: joined(told.map((f) => f.why)), ...(digests !== '' && { digest: digests }) };
}

const joined = (reasons: string[]): string => [...new Set(reasons)].filter((reason) => reason !== '').join('; ');

const isFinding = (x: unknown): x is Finding =>
  isObject(x) &&
  typeof x['service'] === 'string' &&
  SEVERITY.some((result) => x['result'] === result) &&
  typeof x['why'] === 'string' &&
  (x['digest'] === undefined || typeof x['digest'] === 'string');

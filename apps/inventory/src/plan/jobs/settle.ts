import {
  PERIODIC,
  type EventMap,
  type HostGroup,
  type JobRecord,
  type LastCheck,
  type Maintenance,
  type NodeRecord,
  type NodeResult,
  type PendingReturn,
} from '#contracts';
import { withHardware } from '../../identity/with-hardware.js';
import { statusAfter, withStatus } from '../../nodes/node-status.js';
import { neverBegan } from '#domain/job/changes.js';
import { afterCheck, type CheckedStep } from '#domain/return/after-check.js';
import { afterResetup } from '#domain/return/after-resetup.js';
import type { CheckVerdict } from '#domain/return/check-verdict.js';
import { unanswered } from '#domain/return/return.js';
import { notSetUpAgain, verdictOf } from '../../nodes/accepted-drift.js';
import { withFindings, withUnknownFindings } from './with-findings.js';

export interface SettleFacts {
  /** Policy of the node's host group. @default 'resetup' */
  onReturn: NonNullable<HostGroup['onReturn']>;
  /** Wall clock, for the record. */
  at: number;
}

export type SettleEvent = { [K in 'check' | 'resetup' | 'in-service']: { kind: K; data: EventMap[K] } }[
  'check' | 'resetup' | 'in-service'];

/** What an ended job makes of one of its nodes. */
export interface Settlement {
  node: NodeRecord;
  events: SettleEvent[];
}

/** Carries the job's result into the node. Applied once per (node, job): `lastJob` tells that it has been. */
export function settle(node: NodeRecord, job: JobRecord, f: SettleFacts): Settlement {
  const result: NodeResult = job.results[node.name] ?? { ok: false, step: job.task, message: job.error };
  const known = withHardware(withHostKeys(node, result), result.hardware, f.at);
  const done: NodeRecord = { ...withFindings(known, job, result, f.at), lastJob: job.id };
  switch (job.kind) {
    case 'commission':
    case 'decommission':
    case 'maintenance':
      return settleStatus(done, job, result, f);
    case 'check':
      return wasCalledOff(job) ? settleUnbegun(done, job) : settleCheck(node, done, job, result, f);
    case 'resetup':
      return wasCalledOff(job) ? settleUnbegun(done, job) : settleResetup(done, job, result, f);
    case 'recover':
    case 'discover':
    // What it set up it has taken away, or tried to: the node is what it was, out of service, with nothing on record.
    case 'service-test':
      return { node: known, events: [] };
  }
}

/** Pinned at first contact, whatever else came of the job; what is pinned stays until an operator clears it. */
const withHostKeys = (node: NodeRecord, { hostKeys = [] }: NodeResult): NodeRecord =>
  hostKeys.length === 0 || (node.sshHostKeys?.length ?? 0) > 0 ? node : { ...node, sshHostKeys: hostKeys };

/** In service again: nothing is pending, and what was installed is known where the job told it. */
function cleared(
  node: NodeRecord,
  job: JobRecord,
  told: Pick<NodeResult, 'checksum' | 'services'>,
  at: number,
): NodeRecord {
  const { maintenance: _m, pendingReturn: _p, hostGroupWas: _g, ...kept } = node;
  const rest = job.kind === 'check' ? kept : setUpAgain(kept, job);
  const { checksum, services } = told;
  if (checksum === undefined) return rest;
  return { ...rest, provisioned: { checksum, at, job: job.id, ...(services !== undefined && { services }) } };
}

/** What was found before, and was accepted of it, is no more. */
function setUpAgain(node: NodeRecord, job: JobRecord): NodeRecord {
  const { lastCheck: _l, acceptedDrift, ...rest } = node;
  const left = notSetUpAgain(acceptedDrift, job.services);
  return left === undefined ? rest : { ...rest, acceptedDrift: left };
}

/** In the host group that it had before the job. */
function inItsGroup(node: NodeRecord): NodeRecord {
  const { hostGroup, hostGroupWas = hostGroup, ...rest } = node;
  return hostGroupWas === undefined || hostGroupWas === '' ? rest : { ...rest, hostGroup: hostGroupWas };
}

function settleStatus(node: NodeRecord, job: JobRecord, result: NodeResult, f: SettleFacts): Settlement {
  const status = statusAfter(node, job);
  if (status === undefined) return { node, events: [] };
  // Cancelled before it began: the node is as it was, also in what waits for it.
  if (neverBegan(job)) return { node: withStatus(inItsGroup(node), status), events: [] };
  if (status === 'Allocated') {
    const ready = withStatus(cleared(node, job, result, f.at), status);
    return { node: ready, events: [inService(node)] };
  }
  const { provisioned: _gone, ...rest } = cleared(node, job, {}, f.at);
  return { node: withStatus(withoutFindings(rest, job, result, f.at), status), events: [] };
}

/** Gone with what was cleaned up. Where something may be left, that it was there is not forgotten. */
function withoutFindings(node: NodeRecord, job: JobRecord, result: NodeResult, at: number): NodeRecord {
  const { findings: _gone, ...rest } = node;
  const isCleanedUp = job.kind !== 'maintenance' && result.cleanupFailed !== true;
  return isCleanedUp ? rest : withUnknownFindings(node, job, `${job.kind} failed: ${failure(result, job)}`, at);
}

/** It says nothing of the node: the return that it was for waits as before, and gets another job. */
function settleUnbegun(node: NodeRecord, job: JobRecord): Settlement {
  if (node.pendingReturn?.job !== job.id) return { node, events: [] };
  const { job: _unbegun, ...waiting } = node.pendingReturn;
  return { node: { ...node, pendingReturn: waiting }, events: [] };
}

/** A check that somebody ended says nothing of the node. */
function withLastCheck(
  node: NodeRecord,
  job: JobRecord,
  result: NodeResult,
  outcome: CheckVerdict['outcome'],
  at: number,
): NodeRecord {
  if (job.cancel !== undefined) return node;
  const { ok, step, message, unreachable, check } = result;
  const lastCheck: LastCheck = { at, job: job.id, ok, step };
  if (message !== undefined) lastCheck.message = message;
  if (unreachable !== undefined) lastCheck.unreachable = unreachable;
  if (check !== undefined) lastCheck.check = check;
  if (outcome === 'unknown') lastCheck.failed = (node.lastCheck?.failed ?? 0) + 1;
  return { ...node, lastCheck };
}

function settleCheck(
  before: NodeRecord,
  settled: NodeRecord,
  job: JobRecord,
  result: NodeResult,
  f: SettleFacts,
): Settlement {
  const verdict = verdictOf(settled, result, f.at);
  const pending = settled.pendingReturn;
  const step = afterCheck(pending, {
    verdict,
    isOfReturn: pending?.job === job.id,
    isPeriodic: job.cause === PERIODIC,
    isUnreached: result.unreachable === true,
    onReturn: f.onReturn,
  });
  const node = step.do === 'ignore' ? settled : withLastCheck(settled, job, result, verdict.outcome, f.at);
  const events: SettleEvent[] = [];
  if (result.check)
    events.push({
      kind: 'check',
      data: { node: node.name, job: job.id, pass: verdict.outcome === 'pass', result: result.check },
    });
  if (step.do === 'serve') {
    if (before.lastJob === job.id || pending || node.maintenance) events.push(inService(node));
    return { node: cleared(node, job, {}, f.at), events };
  }
  return { node: pending ? { ...node, pendingReturn: checked(pending, step) } : node, events };
}

/** The return that goes on after its check. */
function checked(p: PendingReturn, step: Exclude<CheckedStep, { do: 'serve' }>): PendingReturn {
  const { job: _ended, unreached, ...waiting } = p;
  switch (step.do) {
    case 'ignore':
    case 'note':
      return p;
    case 'reach':
      return { ...waiting, unreached: { tries: (unreached?.tries ?? 0) + 1, why: step.why } };
    case 'check':
      return { ...waiting, failedTries: (p.failedTries ?? 0) + 1, failedWhy: step.why };
    case 'hold':
      return held(p, step.why);
    case 'resetup': {
      const { do: next, ...due } = step;
      return { ...unanswered(p), next, ...due };
    }
  }
}

function settleResetup(node: NodeRecord, job: JobRecord, result: NodeResult, f: SettleFacts): Settlement {
  const ok = job.status === 'Complete' && result.ok;
  // Some services only, and the content has changed since their check: the others do not have the new one.
  const isPart = job.services !== undefined && result.checksum !== node.provisioned?.checksum;
  const told = isPart ? {} : result;
  const events: SettleEvent[] = [{ kind: 'resetup', data: { node: node.name, job: job.id, ok } }];
  const pending = node.pendingReturn ?? { reason: 'disappeared' as const, at: f.at };
  const step = afterResetup(node.pendingReturn, {
    ok,
    hasBegun: !neverBegan(job),
    isOfReturn: node.pendingReturn?.job === job.id,
  });
  const why = `re-setup failed: ${failure(result, job)}`;
  switch (step) {
    case 'serve':
      return { node: cleared(node, job, told, f.at), events: [...events, inService(node)] };
    case 'check': {
      const installed = ok ? { ...cleared(node, job, told, f.at), ...keep(node) } : node;
      return { node: { ...installed, pendingReturn: unanswered(pending) }, events };
    }
    case 'note':
      return { node, events };
    case 'hold':
      return { node: { ...node, pendingReturn: held(pending, why) }, events };
    case 'take-out': {
      const maintenance: Maintenance = { ...node.maintenance, reason: why, at: f.at };
      const left = withUnknownFindings(node, job, why, f.at);
      return { node: { ...left, maintenance, pendingReturn: held(pending, why) }, events };
    }
  }
}

/**
 * It never began since it was cancelled, or refused as the order of a replaced conductor. A job that a worker took and
 * found impossible never began either, but would end the same way each time: that one is a failure.
 */
const wasCalledOff = (job: JobRecord): boolean =>
  neverBegan(job) && (job.worker === undefined || job.cancel !== undefined);

const keep = (node: NodeRecord): Pick<NodeRecord, 'maintenance'> =>
  node.maintenance === undefined ? {} : { maintenance: node.maintenance };

const inService = (node: NodeRecord): SettleEvent => ({ kind: 'in-service', data: { node: node.name } });

const held = (p: PendingReturn, why: string): PendingReturn => ({ ...unanswered(p), held: why });

const failure = (r: NodeResult, job: JobRecord): string =>
  [r.failedTask, r.message ?? job.error].filter((x) => x !== undefined && x !== '').join(': ') || `${r.step} failed`;

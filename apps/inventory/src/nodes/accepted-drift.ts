import { isDeepStrictEqual } from 'node:util';
import { MusterError, type AcceptedDrift, type CheckResult, type NodeRecord } from '#contracts';
import { checkVerdict, type CheckFacts, type CheckVerdict, type Wanted } from '#domain/return/check-verdict.js';
import { unanswered } from '#domain/return/return.js';

export interface DriftAcceptance {
  by: string;
  reason: string;
  /** Wall clock, ms. */
  until?: number | undefined;
  /** Job of the check that is meant. */
  check?: string | undefined;
}

/** Wanted, as of that moment; not whether it is still found. */
export const isInForce = (a: AcceptedDrift | undefined, at: number): a is AcceptedDrift =>
  a !== undefined && (a.until === undefined || at < a.until);

/** Exactly what was found when it was accepted, under the same effective configuration, and nothing else. */
function wantedOf(node: Pick<NodeRecord, 'acceptedDrift'>, check: CheckResult, at: number): Wanted {
  const a = node.acceptedDrift;
  if (!isInForce(a, at) || a.checksum !== check.checksum) return { covers: () => false, configuration: false };
  return {
    covers: (f) => f.result === 'drift' && f.digest !== undefined && a.findings.some((g) => isDeepStrictEqual(g, f)),
    configuration: a.configuration === true,
  };
}

/**
 * What a check says of its node.
 * @param at wall clock, ms: what was accepted may have ended
 */
export const verdictOf = (
  node: Pick<NodeRecord, 'provisioned' | 'acceptedDrift'>,
  told: CheckFacts['told'],
  at: number,
): CheckVerdict =>
  checkVerdict({ told, provisioned: node.provisioned, wanted: told.check && wantedOf(node, told.check, at) });

/**
 * The node with the drift of its last check accepted, in place of what was accepted before. A return that waits for an
 * operator or for a re-setup because of drift is checked anew.
 * @throws MusterError BAD_REQUEST: `until` is past, no drift is known, or one has no digest; REVISION_CONFLICT: another check has come since
 */
export function withAcceptedDrift(node: NodeRecord, o: DriftAcceptance, at: number): NodeRecord {
  const { name, lastCheck: last } = node;
  if (o.until !== undefined && o.until <= at)
    throw new MusterError('BAD_REQUEST', 'until is in the past: it takes a time to come, in ms', { until: o.until });
  if (last?.check === undefined)
    throw nothing(name, `no check of ${name} has told anything since it was set up: muster node check ${name} --wait`);
  if (o.check !== undefined && o.check !== last.job)
    throw new MusterError(
      'REVISION_CONFLICT',
      `${name} was checked once more since: read the findings of ${last.job}, and accept those`,
      { node: name, check: last.job },
    );
  const { check } = last;
  const findings = check.findings.filter((f) => f.result === 'drift');
  const configuration = node.provisioned !== undefined && node.provisioned.checksum !== check.checksum;
  if (findings.length === 0 && !configuration) {
    const broken = check.findings.filter((f) => f.result === 'broken').map((f) => f.service);
    throw nothing(
      name,
      broken.length === 0
        ? `the last check of ${name} found no drift`
        : `the last check of ${name} found no drift; what is broken cannot be accepted: ${broken.join(', ')}`,
    );
  }
  // Its words would cover each later change that they fit, too.
  const blind = findings.filter((f) => f.digest === undefined).map((f) => f.service);
  if (blind.length > 0)
    throw new MusterError(
      'BAD_REQUEST',
      `the drift of ${blind.join(', ')} is told in words alone, which would cover later changes, too: have the check give muster_check evidence, or its files, then muster node check ${name} --wait`,
      { node: name, services: blind },
    );
  const accepted: AcceptedDrift = {
    reason: o.reason,
    by: o.by,
    at,
    ...(o.until !== undefined && { until: o.until }),
    check: last.job,
    checksum: check.checksum,
    findings,
    ...(configuration && { configuration }),
  };
  return { ...released(node), acceptedDrift: accepted };
}

function released(node: NodeRecord): NodeRecord {
  const p = node.pendingReturn;
  if (p?.job !== undefined) return node;
  return p?.next === 'resetup' || p?.held?.startsWith('drift') === true
    ? { ...node, pendingReturn: unanswered(p) }
    : node;
}

/** What is left of it when these services were set up again; all of the node where they are not named. */
export function notSetUpAgain(
  a: AcceptedDrift | undefined,
  services: readonly string[] | undefined,
): AcceptedDrift | undefined {
  if (a === undefined || services === undefined) return undefined;
  const findings = a.findings.filter((f) => !services.includes(f.service));
  return findings.length > 0 || a.configuration === true ? { ...a, findings } : undefined;
}

const nothing = (node: string, why: string): MusterError =>
  new MusterError('BAD_REQUEST', `there is nothing to accept: ${why}`, { node });

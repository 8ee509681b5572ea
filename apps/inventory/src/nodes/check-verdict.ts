import type { CheckResult, NodeRecord, NodeResult } from '#contracts';
import { wantedOf, type Wanted } from './accepted-drift.js';

type Checked = Pick<NodeRecord, 'provisioned' | 'acceptedDrift'>;
type Told = Pick<NodeResult, 'ok' | 'step' | 'message' | 'check'>;

export interface CheckVerdict {
  /** `unknown`: the check itself could not be carried out, so it says nothing of the configuration. */
  outcome: 'pass' | 'drift' | 'unknown';
  /** All findings are ok: what runs there serves, by another configuration than it would be given now. */
  serves?: true;
  /** Nothing else is to be repaired than these services, and each may be set up again by itself. */
  only?: string[];
  why: string;
}

/**
 * Reads a check: everything that was set up must be told of and ok, and the effective configuration must be the one that was put there last. A
 * node whose last provisioning is not on record has nothing to compare with, so the findings alone decide. A drift that
 * an operator has accepted counts as ok: that one, and no other.
 * @param at wall clock, ms: what was accepted may have ended
 */
export function checkVerdict(node: Checked, result: Told, at: number): CheckVerdict {
  const check = result.check;
  if (!check) return { outcome: 'unknown', why: result.message ?? `${result.step} ended without findings` };
  const wanted = wantedOf(node, check, at);
  const unknown = check.findings.filter((f) => f.result === 'unknown');
  const bad = check.findings.filter((f) => (f.result === 'drift' || f.result === 'broken') && !wanted.covers(f));
  if (bad.length > 0)
    return {
      outcome: 'drift',
      why: bad.map((f) => `${f.service} ${f.result}${f.why && ` (${f.why})`}`).join(', '),
      ...onlyThese(node, check, wanted),
    };
  if (unknown.length > 0)
    return {
      outcome: 'unknown',
      why: unknown.map((f) => `${f.service} could not be checked${f.why && ` (${f.why})`}`).join(', '),
    };
  const unreported = (node.provisioned?.services ?? []).filter((s) => !check.findings.some((f) => f.service === s));
  if (check.findings.length === 0) return { outcome: 'unknown', why: 'it told of no service at all' };
  if (unreported.length > 0)
    return { outcome: 'unknown', why: `it did not tell of ${unreported.join(', ')}, which was set up there` };
  if (node.provisioned && node.provisioned.checksum !== check.checksum && !wanted.configuration)
    return {
      outcome: 'drift',
      serves: true,
      why: 'the effective configuration is not the one that was provisioned last',
    };
  if (!result.ok) return { outcome: 'unknown', why: result.message ?? `${result.step} failed without a finding` };
  return { outcome: 'pass', why: '' };
}

/**
 * Some services alone, where every other one was looked at and is well, and the effective configuration is that of the
 * last provisioning: whatever else is to be changed takes the whole way.
 */
function onlyThese(node: Checked, check: CheckResult, wanted: Wanted): Pick<CheckVerdict, 'only'> {
  const { findings, alone = [], checksum } = check;
  const bad = findings.filter((f) => f.result !== 'ok' && !wanted.covers(f)).map((f) => f.service);
  const isKnown = node.provisioned?.checksum === checksum && findings.every((f) => f.result !== 'unknown');
  const unreported = (node.provisioned?.services ?? []).some((s) => !findings.some((f) => f.service === s));
  return isKnown && !unreported && bad.every((s) => alone.includes(s)) ? { only: bad } : {};
}

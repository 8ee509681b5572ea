import type { CheckResult, NodeRecord, NodeResult } from '#contracts';

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
 * node whose last provisioning is not on record has nothing to compare with, so the findings alone decide.
 */
export function checkVerdict(node: Pick<NodeRecord, 'provisioned'>, result: NodeResult): CheckVerdict {
  const check = result.check;
  if (!check) return { outcome: 'unknown', why: result.message ?? `${result.step} ended without findings` };
  const unknown = check.findings.filter((f) => f.result === 'unknown');
  const bad = check.findings.filter((f) => f.result === 'drift' || f.result === 'broken');
  if (bad.length > 0)
    return {
      outcome: 'drift',
      why: bad.map((f) => `${f.service} ${f.result}${f.why && ` (${f.why})`}`).join(', '),
      ...onlyThese(node, check),
    };
  if (unknown.length > 0)
    return {
      outcome: 'unknown',
      why: unknown.map((f) => `${f.service} could not be checked${f.why && ` (${f.why})`}`).join(', '),
    };
  const untold = (node.provisioned?.services ?? []).filter((s) => !check.findings.some((f) => f.service === s));
  if (check.findings.length === 0) return { outcome: 'unknown', why: 'it told of no service at all' };
  if (untold.length > 0)
    return { outcome: 'unknown', why: `it did not tell of ${untold.join(', ')}, which was set up there` };
  if (node.provisioned && node.provisioned.checksum !== check.checksum)
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
function onlyThese(node: Pick<NodeRecord, 'provisioned'>, check: CheckResult): Pick<CheckVerdict, 'only'> {
  const { findings, alone = [], checksum } = check;
  const bad = findings.filter((f) => f.result !== 'ok').map((f) => f.service);
  const isKnown = node.provisioned?.checksum === checksum && findings.every((f) => f.result !== 'unknown');
  const untold = (node.provisioned?.services ?? []).some((s) => !findings.some((f) => f.service === s));
  return isKnown && !untold && bad.every((s) => alone.includes(s)) ? { only: bad } : {};
}

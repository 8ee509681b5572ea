import type { Finding, NodeRecord, NodeResult } from '#contracts';

export interface CheckVerdict {
  /** `unknown`: the check itself could not be carried out, so it says nothing of the configuration. */
  outcome: 'pass' | 'drift' | 'unknown';
  /** All findings are ok: what runs there serves, by another configuration than it would be given now. */
  serves?: true;
  /** Nothing else is to be repaired than these services, and each may be set up again by itself. */
  only?: string[];
  why: string;
}

/** What of a check an operator wants so. */
export interface Wanted {
  covers(f: Finding): boolean;
  /** That the effective configuration is not the one of the last provisioning. */
  configuration: boolean;
}

/** What a check has told, and what it is held against. */
export interface CheckFacts {
  told: Pick<NodeResult, 'ok' | 'step' | 'message' | 'check'>;
  /** Absent: the last provisioning is not on record, and the findings alone decide. */
  provisioned: NodeRecord['provisioned'];
  /** Absent: nothing. */
  wanted: Wanted | undefined;
}

interface Compared extends CheckFacts {
  findings: readonly Finding[];
  /** In no order, and not wanted so. */
  bad: readonly Finding[];
  /** They could not be looked at. */
  unseen: readonly Finding[];
  /** Set up there, and not told of. */
  unreported: readonly string[];
  /** The effective configuration is not the one of the last provisioning. */
  isOther: boolean;
}

export interface VerdictRow {
  when: (c: Compared) => boolean;
  outcome: CheckVerdict['outcome'];
  why: (c: Compared) => string;
  with?: (c: Compared) => Pick<CheckVerdict, 'serves' | 'only'>;
  /** For people. */
  reason: string;
}

const because = ({ why }: Finding): string => (why === '' ? '' : ` (${why})`);

/**
 * What a check says, by the first row that holds, in this order; where none does, it says nothing. To pass, everything
 * that was set up must be told of and ok, and the effective configuration be the one that was put there last. A drift
 * that an operator has accepted counts as ok: that one, and no other.
 */
export const verdictTable = {
  NO_FINDINGS: {
    when: ({ told }) => told.check === undefined,
    outcome: 'unknown',
    why: ({ told }) => told.message ?? `${told.step} ended without findings`,
    reason: 'it has ended without findings',
  },
  DIFFERS: {
    when: ({ bad }) => bad.length > 0,
    outcome: 'drift',
    why: ({ bad }) => bad.map((f) => `${f.service} ${f.result}${because(f)}`).join(', '),
    with: onlyThese,
    reason: 'a service is broken, or differs from what was set up and nobody has accepted that',
  },
  NOT_SEEN: {
    when: ({ unseen }) => unseen.length > 0,
    outcome: 'unknown',
    why: ({ unseen }) => unseen.map((f) => `${f.service} could not be checked${because(f)}`).join(', '),
    reason: 'a service could not be checked',
  },
  NO_SERVICE: {
    when: ({ findings }) => findings.length === 0,
    outcome: 'unknown',
    why: () => 'it told of no service at all',
    reason: 'it has reported no service',
  },
  UNREPORTED: {
    when: ({ unreported }) => unreported.length > 0,
    outcome: 'unknown',
    why: ({ unreported }) => `it did not tell of ${unreported.join(', ')}, which was set up there`,
    reason: 'it has not reported a service that was set up there',
  },
  OTHER_CONFIGURATION: {
    when: ({ isOther, wanted }) => isOther && wanted?.configuration !== true,
    outcome: 'drift',
    why: () => 'the effective configuration is not the one that was provisioned last',
    with: () => ({ serves: true }),
    reason: 'all services are well, by another effective configuration than the one that was put there last',
  },
  FAILED: {
    when: ({ told }) => !told.ok,
    outcome: 'unknown',
    why: ({ told }) => told.message ?? `${told.step} failed without a finding`,
    reason: 'it has failed without a finding',
  },
  WELL: {
    when: ({ told, findings }) => told.ok && findings.length > 0,
    outcome: 'pass',
    why: () => '',
    reason: 'all that was set up there is reported, and well',
  },
} as const satisfies Readonly<Record<string, VerdictRow>>;

/** What a check says of its node. */
export function checkVerdict(f: CheckFacts): CheckVerdict {
  const c = compared(f);
  const row = Object.values<VerdictRow>(verdictTable).find((r) => r.when(c));
  if (row === undefined) return { outcome: 'unknown', why: 'what it told fits no rule' };
  return { outcome: row.outcome, why: row.why(c), ...row.with?.(c) };
}

function compared(f: CheckFacts): Compared {
  const { told, provisioned, wanted } = f;
  const findings = told.check?.findings ?? [];
  const isWanted = (finding: Finding): boolean => wanted?.covers(finding) === true;
  return {
    ...f,
    findings,
    bad: findings.filter((x) => (x.result === 'drift' || x.result === 'broken') && !isWanted(x)),
    unseen: findings.filter((x) => x.result === 'unknown'),
    unreported: (provisioned?.services ?? []).filter((s) => !findings.some((x) => x.service === s)),
    isOther: provisioned !== undefined && provisioned.checksum !== told.check?.checksum,
  };
}

/**
 * Some services alone, where every other one was looked at and is well, and the effective configuration is that of the
 * last provisioning: whatever else is to be changed takes the whole way.
 */
function onlyThese({ told, provisioned, bad, unseen, unreported, isOther }: Compared): Pick<CheckVerdict, 'only'> {
  const alone = told.check?.alone ?? [];
  const isKnown = provisioned !== undefined && !isOther && unseen.length === 0 && unreported.length === 0;
  return isKnown && bad.every((f) => alone.includes(f.service)) ? { only: bad.map((f) => f.service) } : {};
}

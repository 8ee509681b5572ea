import { MOST_CONDITIONS, type DetectorCondition } from '#contracts';
import { FLEET, isMass, some } from './sight.js';

const SEVERITIES: readonly DetectorCondition['severity'][] = ['critical', 'warning', 'info'];
/** What may hide an attack or a blind spot stands before what is slow. */
const CODES: readonly DetectorCondition['code'][] = [
  'auth-failure',
  'partly-heard',
  'link-down',
  'peer-list',
  'agent-health',
  'life-sign-weak',
  'link-quality',
];

const MASS: Record<DetectorCondition['code'], string> = {
  'auth-failure': 'Most nodes receive what is not signed by this cluster',
  'partly-heard': 'Most nodes are not heard by some of the others',
  'link-down': 'Many pairs of nodes do not hear each other',
  'peer-list': 'Most agents cannot use the list of their peers',
  'agent-health': 'Most agents warn, or abstain',
  'life-sign-weak': 'Most nodes would not be fenced, for nothing but their agents shows that they live',
  'link-quality': 'Most nodes lose many of their probes',
};

/**
 * What a beacon carries: each subject of a code once, one condition where most of the fleet has the same, the worst
 * first and not more than {@link MOST_CONDITIONS}.
 * @param members how many nodes there are
 */
export function worstFirst(conditions: readonly DetectorCondition[], members: number): DetectorCondition[] {
  const grouped = CODES.flatMap((code) => asOne(code, conditions, members));
  const rank = (c: DetectorCondition): number => SEVERITIES.indexOf(c.severity) * CODES.length + CODES.indexOf(c.code);
  return grouped.sort((a, b) => rank(a) - rank(b) || (a.subject < b.subject ? -1 : 1)).slice(0, MOST_CONDITIONS);
}

function asOne(
  code: DetectorCondition['code'],
  all: readonly DetectorCondition[],
  members: number,
): DetectorCondition[] {
  const bySubject = new Map<string, DetectorCondition>();
  for (const c of all) if (c.code === code && !bySubject.has(c.subject)) bySubject.set(c.subject, c);
  const of = [...bySubject.values()];
  const single = of.filter((c) => c.subject !== FLEET);
  if (!isMass(single.length, members)) return of;
  const severity = SEVERITIES.find((s) => of.some((c) => c.severity === s)) ?? 'warning';
  const names = single.map((c) => c.subject).sort();
  // What is about the whole fleet already is not to be hidden by what many have.
  const said = [bySubject.get(FLEET)?.message, `${MASS[code]}: ${some(names)}.`, single[0]?.message];
  return [{ code, subject: FLEET, severity, message: said.filter((m) => m !== undefined).join(' ') }];
}

import type { LifeChannel, LifeObservation, OwnProbe, Verdict, VerdictEvidence } from '#contracts';

/**
 * What the looks at a host say whose agent is silent to everybody.
 *
 * `agent-down`: the host lives, its agent does not. `hung`: its kernel answers, and nothing above it does. `dead`: every
 * channel by which it showed life before is silent. All others are no knowledge, and hold: `unknown` was not looked at
 * whole, `weak` has no channel whose silence would say anything, `unwitnessed` was stopped, and too few find it silent.
 */
export interface HostLife {
  state: 'agent-down' | 'hung' | 'dead' | 'unknown' | 'weak' | 'unwitnessed';
  detail: string;
}

export interface LifeFacts {
  /** The monitor's; absent: it has not looked. */
  own?: LifeObservation;
  /** Of nodes that it asked to look too, one per observer: any sign of life of theirs counts. */
  asked: readonly LifeObservation[];
  /** An admin has said that it needs no channel. */
  waived: boolean;
  /** Its agent's last word. */
  left?: VerdictEvidence['left'];
}

/** Observers that must find a host silent where one is not enough: its agent was stopped, or the monitor has no channel. */
const WITNESSES = 2;

const words: Record<LifeChannel, string> = { ssh: 'its ssh', icmp: 'ICMP', port: 'its closed UDP port' };
const found = (l: LifeObservation, c: LifeChannel): string => (c === 'ssh' ? l.ssh : c === 'icmp' ? l.icmp : l.port);

const isAgentDown = (l: LifeObservation): boolean => l.ssh === 'banner' || l.agentPort === 'unreachable';
const kernelAnswers = (l: LifeObservation): boolean =>
  l.icmp === 'reply' || l.port === 'unreachable' || l.ssh === 'accepted' || l.ssh === 'refused';
/** Something may still be found, or what has spoken cannot be asked. */
const isOpen = (l: LifeObservation): boolean =>
  [l.ssh, l.icmp, l.port, l.agentPort].includes('not-tried') || l.spoke.some((c) => found(l, c) === 'cannot');
const names = (observations: readonly LifeObservation[]): string => observations.map((l) => l.by).join(', ');

/**
 * The first row that fits, from what shows life to what shows death. Any sign of life counts, whoever has seen it.
 * Silence is the word of who has looked in every way, and to whom it spoke before: the monitor must have looked itself,
 * and of those that were asked, who could not look has found nothing.
 */
export function lifeSigns({ own, asked, waived, left }: LifeFacts): HostLife {
  const observations = own ? [own, ...asked] : asked;
  const lives = observations.filter(isAgentDown);
  if (lives.length > 0)
    return { state: 'agent-down', detail: `${agentDown(lives)}: the host lives, its agent is silent.` };
  const answering = observations.filter(kernelAnswers);
  // Nobody listens on the port of an agent that was stopped: that it is silent tells of a filter, and not of a hang.
  if (answering.length > 0 && left === 'stop')
    return {
      state: 'agent-down',
      detail: `Its kernel answers ${names(answering)} (${answers(answering)}), and its agent was stopped.`,
    };
  const heeded = answering.filter((l) => l === own || !isOpen(l));
  // A hung host is powered off by default: as for death, one that was asked is not believed alone.
  const isBelieved = heeded.some((l) => l === own) || heeded.length >= WITNESSES;
  if (isBelieved && heeded.every((l) => l.agentPort === 'silent'))
    return {
      state: 'hung',
      detail: `Its kernel answers ${names(heeded)} (${answers(heeded)}), and nothing above it does.`,
    };
  if (own === undefined || answering.length > 0 || isOpen(own))
    return { state: 'unknown', detail: 'Its host has not been looked at in every way yet.' };
  const telling = [own, ...asked.filter((l) => !isOpen(l))].filter((l) => l.spoke.length > 0);
  if (left === 'stop' && telling.length < WITNESSES)
    return {
      state: 'unwitnessed',
      detail: `Its agent was stopped, so that its silence says nothing: ${silentTo(telling, asked)}.`,
    };
  // One that was asked may be broken, or broken into: alone it is not believed.
  if (telling.includes(own) || telling.length >= WITNESSES)
    return { state: 'dead', detail: `Silent where it spoke before: ${silent(telling)}.` };
  return waived
    ? { state: 'dead', detail: 'No channel has ever shown that its host lives, and an admin has waived that.' }
    : {
        state: 'weak',
        detail: `Nothing but its agent has ever shown the monitor that its host lives (no ssh, no ping, no closed UDP port): that these are silent says nothing. ${silentTo(telling, asked)}.`,
      };
}

/** How many of whom it takes find it silent, and who of those that were asked does not count. */
function silentTo(telling: readonly LifeObservation[], asked: readonly LifeObservation[]): string {
  const open = asked.filter(isOpen);
  const unable = open.length === 0 ? '' : `; ${names(open)} could not look in every way`;
  return `${telling.length} of ${WITNESSES} observers find silent what spoke to them before${unable}`;
}

const agentDown = (observations: readonly LifeObservation[]): string =>
  observations.some((l) => l.ssh === 'banner')
    ? 'Its ssh answers with a banner'
    : 'Its kernel says that nobody listens on the port of its agent';

const answers = (observations: readonly LifeObservation[]): string =>
  [
    observations.some((l) => l.icmp === 'reply') && 'ping',
    observations.some((l) => l.port === 'unreachable') && 'a closed UDP port',
    observations.some((l) => l.ssh === 'accepted') && 'ssh without a banner',
    observations.some((l) => l.ssh === 'refused') && 'ssh refused',
  ]
    .filter((w) => w !== false)
    .join(', ');

const silent = (observations: readonly LifeObservation[]): string =>
  observations.map((l) => `${l.spoke.map((c) => words[c]).join(', ')} to ${l.by}`).join('; ');

/** The monitor's own look and those of whom it asked. One by a detector that did not look at channels is none. */
export function observationsIn({
  ownProbe,
  lifeLooks = [],
}: Pick<VerdictEvidence, 'ownProbe' | 'lifeLooks'>): Pick<LifeFacts, 'own' | 'asked'> {
  return { ...(isWhole(ownProbe) && { own: ownProbe }), asked: lifeLooks };
}

/** What its evidence shows of the host, while nobody hears the node; `heard`: somebody does. */
export function shownLife(v: Pick<Verdict, 'evidence'> | undefined): HostLife['state'] | 'heard' {
  if (v === undefined) return 'unknown';
  const { observers, ownProbe, left } = v.evidence;
  if (observers.some((o) => o.stance === 'hears') || (ownProbe?.echo ?? []).length > 0) return 'heard';
  return lifeSigns({ ...observationsIn(v.evidence), waived: false, ...(left && { left }) }).state;
}

const isWhole = (p: OwnProbe | undefined): p is OwnProbe & LifeObservation =>
  p?.by !== undefined &&
  p.icmp !== undefined &&
  p.port !== undefined &&
  p.agentPort !== undefined &&
  p.spoke !== undefined;

import type { LifeChannel, LifeLook, OwnProbe, Verdict, VerdictEvidence } from '#contracts';

/**
 * What the looks at a host say whose agent is silent to everybody.
 *
 * `agent-down`: the host lives, its agent does not. `hung`: its kernel answers, and nothing above it does. `dead`: every
 * channel by which it showed life before is silent. All others are no knowledge, and hold: `unknown` was not looked at
 * whole, `weak` has no channel whose silence would say anything, `unwitnessed` was stopped, and one observer is too few.
 */
export interface HostLife {
  state: 'agent-down' | 'hung' | 'dead' | 'unknown' | 'weak' | 'unwitnessed';
  detail: string;
}

export interface LifeFacts {
  /** One per observer. */
  looks: readonly LifeLook[];
  /** An admin has said that it needs no channel. */
  waived: boolean;
  /** Its agent's last word. */
  left?: VerdictEvidence['left'];
}

/** Observers that must have looked at a host whose agent was stopped: its silence is no evidence any more. */
const WITNESSES = 2;

const words: Record<LifeChannel, string> = { ssh: 'its ssh', icmp: 'ICMP', port: 'its closed UDP port' };
const found = (l: LifeLook, c: LifeChannel): string => (c === 'ssh' ? l.ssh : c === 'icmp' ? l.icmp : l.port);

const isAgentDown = (l: LifeLook): boolean => l.ssh === 'banner' || l.agentPort === 'unreachable';
const kernelAnswers = (l: LifeLook): boolean =>
  l.icmp === 'reply' || l.port === 'unreachable' || l.ssh === 'accepted' || l.ssh === 'refused';
/** Something may still be found, or what has spoken cannot be asked. */
const isOpen = (l: LifeLook): boolean =>
  [l.ssh, l.icmp, l.port, l.agentPort].includes('not-tried') || l.spoke.some((c) => found(l, c) === 'cannot');
const names = (looks: readonly LifeLook[]): string => looks.map((l) => l.by).join(', ');

/** The first row that fits, from what shows life to what shows death. */
export function lifeSigns({ looks, waived, left }: LifeFacts): HostLife {
  const lives = looks.filter(isAgentDown);
  if (lives.length > 0)
    return { state: 'agent-down', detail: `${agentDown(lives)}: the host lives, its agent is silent.` };
  const answering = looks.filter(kernelAnswers);
  if (answering.length > 0 && answering.every((l) => l.agentPort === 'silent'))
    return {
      state: 'hung',
      detail: `Its kernel answers ${names(answering)} (${answers(answering)}), and nothing above it does.`,
    };
  if (looks.length === 0 || answering.length > 0 || looks.some(isOpen))
    return { state: 'unknown', detail: 'Its host has not been looked at in every way yet.' };
  const telling = looks.filter((l) => l.spoke.length > 0);
  if (left === 'stop' && telling.length < WITNESSES)
    return {
      state: 'unwitnessed',
      detail: `Its agent was stopped, so that its silence says nothing: ${telling.length} of ${WITNESSES} observers find its host silent.`,
    };
  if (telling.length > 0) return { state: 'dead', detail: `Silent where it spoke before: ${silent(telling)}.` };
  return waived
    ? { state: 'dead', detail: 'No channel has ever shown that its host lives, and an admin has waived that.' }
    : {
        state: 'weak',
        detail:
          'Nothing but its agent has ever shown that its host lives (no ssh, no ping, no closed UDP port): that these are silent says nothing.',
      };
}

const agentDown = (looks: readonly LifeLook[]): string =>
  looks.some((l) => l.ssh === 'banner')
    ? 'Its ssh answers with a banner'
    : 'Its kernel says that nobody listens on the port of its agent';

const answers = (looks: readonly LifeLook[]): string =>
  [
    looks.some((l) => l.icmp === 'reply') && 'ping',
    looks.some((l) => l.port === 'unreachable') && 'a closed UDP port',
    looks.some((l) => l.ssh === 'accepted') && 'ssh without a banner',
    looks.some((l) => l.ssh === 'refused') && 'ssh refused',
  ]
    .filter((w) => w !== false)
    .join(', ');

const silent = (looks: readonly LifeLook[]): string =>
  looks.map((l) => `${l.spoke.map((c) => words[c]).join(', ')} to ${l.by}`).join('; ');

/** The monitor's own look and those of whom it asked. One by a detector that did not look at channels is none. */
export function looksIn({ ownProbe, lifeLooks = [] }: Pick<VerdictEvidence, 'ownProbe' | 'lifeLooks'>): LifeLook[] {
  return isWhole(ownProbe) ? [ownProbe, ...lifeLooks] : [...lifeLooks];
}

/** What its evidence shows of the host, while nobody hears the node; `heard`: somebody does. */
export function shownLife(v: Pick<Verdict, 'evidence'> | undefined): HostLife['state'] | 'heard' {
  if (v === undefined) return 'unknown';
  const { observers, ownProbe, left } = v.evidence;
  if (observers.some((o) => o.stance === 'hears') || (ownProbe?.echo ?? []).length > 0) return 'heard';
  return lifeSigns({ looks: looksIn(v.evidence), waived: false, ...(left && { left }) }).state;
}

const isWhole = (p: OwnProbe | undefined): p is OwnProbe & LifeLook =>
  p?.by !== undefined &&
  p.icmp !== undefined &&
  p.port !== undefined &&
  p.agentPort !== undefined &&
  p.spoke !== undefined;

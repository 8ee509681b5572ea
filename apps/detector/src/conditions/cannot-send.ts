import type { DetectorCondition, Report } from '#contracts';
import { isMuteOn } from '#domain/verdict/networks-out.js';
import { worst } from './broken-links.js';
import { lasting, some } from './sight.js';

/** ms for which probes must have failed: when a whole network goes, it goes host by host, and that is one alarm. */
export const UNSENT_HOLD_MS = 5_000;

/** Node and network → ms for which it has been seen to be able to send to nobody there. */
export type MuteFor = ReadonlyMap<string, number>;

/** A fresh and willing reporter's own word. */
export type Sender = Pick<Report, 'node' | 'networks' | 'health'>;

/** Between two nodes, probes of one at least do not leave. */
interface UnsentLink {
  a: string;
  b: string;
  networks: string[];
  errors: string[];
}

/**
 * Whose own probes do not leave: `agent-health` of one that cannot send to anybody on a network, `link-down` and
 * `partly-heard` where it is single peers, by the fewest nodes that explain it. A network that is out for most has an
 * alarm of its own. An agent knows that nothing leaves on a network before it knows to whom, and forgets the one without
 * the other: it has lasted by its own word of a peer, or as it was seen here.
 * @param passed ms since the last round
 */
export function sendConditions(
  senders: readonly Sender[],
  out: ReadonlySet<string>,
  was: MuteFor,
  passed: number,
): { conditions: DetectorCondition[]; muteFor: MuteFor } {
  const muteFor = new Map<string, number>();
  const conditions: DetectorCondition[] = [];
  const links = new Map<string, UnsentLink>();
  for (const { node, networks, health } of senders) {
    const mute: string[] = [];
    for (const network of networks) {
      const unsent = health.unsent?.[network];
      const isMute = isMuteOn({ health }, network);
      const id = `${node}\0${network}`;
      const seenFor = lasting(was.get(id), passed);
      if (isMute) muteFor.set(id, seenFor);
      if (out.has(network) || Math.max(unsent?.forMs ?? 0, isMute ? seenFor : 0) < UNSENT_HOLD_MS) continue;
      if (isMute) mute.push(`${network}${unsent ? ` (${unsent.error})` : ''}`);
      else for (const peer of unsent?.peers ?? []) add(links, node, peer, network, unsent?.error ?? '');
    }
    if (mute.length > 0)
      conditions.push({
        code: 'agent-health',
        subject: node,
        severity: 'warning',
        message: `${node}: it cannot send to anybody on ${mute.join(', ')}, and says nothing of the others there`,
      });
  }
  return { conditions: [...conditions, ...explain([...links.values()])], muteFor };
}

function add(links: Map<string, UnsentLink>, from: string, to: string, network: string, error: string): void {
  const [a, b] = from < to ? [from, to] : [to, from];
  const link = links.get(`${a}~${b}`) ?? { a, b, networks: [], errors: [] };
  links.set(`${a}~${b}`, link);
  if (!link.networks.includes(network)) link.networks.push(network);
  if (!link.errors.includes(error)) link.errors.push(error);
}

function explain(links: readonly UnsentLink[]): DetectorCondition[] {
  const conditions: DetectorCondition[] = [];
  let left = [...links];
  const say = (code: 'partly-heard' | 'link-down', subject: string, ends: string, of: readonly UnsentLink[]): void => {
    const networks = [...new Set(of.flatMap((l) => l.networks))].sort().join(', ');
    const errors = [...new Set(of.flatMap((l) => l.errors))].sort().join(', ');
    const message = `Probes between ${ends} do not leave their hosts on ${networks} (${errors}): nothing is known of these links.`;
    conditions.push({ code, subject, severity: 'warning', message });
  };
  for (let node = worst(left); node !== undefined; node = worst(left)) {
    const name = node;
    const its = left.filter((l) => l.a === name || l.b === name);
    left = left.filter((l) => !its.includes(l));
    say('partly-heard', name, `${name} and ${some(its.map((l) => (l.a === name ? l.b : l.a)).sort())}`, its);
  }
  for (const link of left) say('link-down', `${link.a}~${link.b}`, `${link.a} and ${link.b}`, [link]);
  return conditions;
}

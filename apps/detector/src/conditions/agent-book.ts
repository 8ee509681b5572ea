import type { DetectorCondition, Report } from '#contracts';
import { FLEET, some } from './sight.js';

/** ms after which what an agent said of itself, or a stranger's report, is over. */
export const SAID_MS = 10_000;
/** ms; an agent that abstains for longer than any pause lasts is no observer. */
export const ABSTAINS_MS = 10_000;
/** ms for which datagrams that were not signed by this cluster stay news: they may come one a minute. */
export const FORGED_MS = 60_000;
/** ms; a node that is being let in reports before we have read that it is. */
export const STRANGER_HOLD_MS = 5_000;
/** Strangers that are kept in mind at most. */
const MOST_STRANGERS = 100;

const PEER_LIST = 'peer list:';
/** The verdict is about that, and its alarm. */
const DUPLICATE = 'duplicate:';

/** Of one agent. */
interface Agent {
  epoch: number;
  at: number;
  warnings: string[];
  abstainsSince: number | undefined;
  reason: string | undefined;
  forged: number | undefined;
  forgedAt: number;
}

const condition = (
  code: 'auth-failure' | 'agent-health' | 'peer-list',
  subject: string,
  message: string,
): DetectorCondition => ({ code, subject, severity: 'warning', message });

/** What agents say of themselves, who is not let in and reports all the same, and what bears a wrong signature. */
export class AgentBook {
  private readonly agents = new Map<string, Agent>();
  private readonly strangers = new Map<string, { since: number; at: number }>();
  /** Whose last report could not be read, and when it came. */
  private readonly unreadable = new Map<string, number>();
  private monitor = { forged: 0, at: -Infinity };

  /** A report of a node that is let in. */
  hear(r: Report, now: number): void {
    const was = this.agents.get(r.node);
    const sameProcess = was?.epoch === r.epoch;
    const { abstain, reason, warnings = [], metrics } = r.health;
    const isWilling = !abstain || now - (was?.at ?? -Infinity) > SAID_MS;
    const forged = metrics?.dropped['mac'] ?? (metrics ? 0 : sameProcess ? was.forged : undefined);
    // What an agent counted before we listened is no news; what a new process has counted since its start is.
    const before = sameProcess ? was.forged : was ? 0 : undefined;
    const grew = forged !== undefined && before !== undefined && forged > before;
    this.agents.set(r.node, {
      epoch: r.epoch,
      at: now,
      warnings,
      abstainsSince: abstain ? ((isWilling ? undefined : was?.abstainsSince) ?? now) : undefined,
      reason,
      forged,
      forgedAt: grew ? now : (was?.forgedAt ?? -Infinity),
    });
  }

  /** A report of a node that is let in, of which not even the votes could be read. */
  hearUnreadable(node: string, now: number): void {
    this.unreadable.set(node, now);
  }

  /** A report by the user of a node that is not let in, or that speaks as another one. */
  hearStranger(name: string, now: number): void {
    const was = this.strangers.get(name);
    const goesOn = was !== undefined && now - was.at <= SAID_MS;
    if (!was && this.strangers.size >= MOST_STRANGERS) return;
    this.strangers.set(name, { since: goesOn ? was.since : now, at: now });
  }

  /** What the monitor's own socket has counted since its start. */
  hearForged(count: number, now: number): void {
    if (count > this.monitor.forged) this.monitor = { forged: count, at: now };
  }

  /** Forgets whoever is not watched any more. */
  keepOnly(watched: { has(node: string): boolean }): void {
    for (const kept of [this.agents, this.unreadable])
      for (const node of kept.keys()) if (!watched.has(node)) kept.delete(node);
  }

  conditions(now: number): DetectorCondition[] {
    const conditions: DetectorCondition[] = [];
    if (now - this.monitor.at <= FORGED_MS)
      conditions.push(
        condition('auth-failure', FLEET, 'The monitor receives datagrams that are not signed by this cluster.'),
      );
    for (const [name, { since, at }] of this.strangers) {
      if (now - at > SAID_MS) this.strangers.delete(name);
      else if (now - since >= STRANGER_HOLD_MS)
        conditions.push(
          condition(
            'auth-failure',
            name,
            `Reports come from ${name}, which is not enrolled, or speaks as another node.`,
          ),
        );
    }
    for (const [node, at] of this.unreadable)
      if (now - at > SAID_MS) this.unreadable.delete(node);
      else
        conditions.push(
          condition(
            'agent-health',
            node,
            `${node}: its reports cannot be read, so that it has no vote: an agent of another version, or a broken one`,
          ),
        );
    for (const [node, agent] of this.agents) conditions.push(...conditionsOf(node, agent, now));
    return conditions;
  }
}

function conditionsOf(node: string, a: Agent, now: number): DetectorCondition[] {
  const conditions: DetectorCondition[] = [];
  if (now - a.forgedAt <= FORGED_MS)
    conditions.push(
      condition(
        'auth-failure',
        node,
        `${node} receives datagrams that are not signed by this cluster: a foreign key, another cluster, or a forger.`,
      ),
    );
  if (now - a.at > SAID_MS) return conditions;
  const lists = a.warnings.filter((w) => w.startsWith(PEER_LIST));
  if (lists.length > 0) conditions.push(condition('peer-list', node, `${node}: ${some(lists)}`));
  const others = a.warnings.filter((w) => !w.startsWith(PEER_LIST) && !w.startsWith(DUPLICATE));
  if (a.abstainsSince !== undefined && now - a.abstainsSince >= ABSTAINS_MS)
    others.push(`it has no vote: ${a.reason ?? 'it abstains'}`);
  if (others.length > 0) conditions.push(condition('agent-health', node, `${node}: ${some(others)}`));
  return conditions;
}

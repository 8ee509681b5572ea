import { BEACON_PERIOD_MS, type DetectorCondition } from '#contracts';
import type { FleetView } from '../fleet/fleet-view.js';
import { linkState, type ReportBook } from '../observers/report-book.js';
import { isHealthyReporter } from '../observers/stance.js';
import type { VerdictLog } from '../verdicts/verdict-log.js';
import type { AgentBook } from './agent-book.js';
import { linkConditions, type BrokenSince } from './broken-links.js';
import { qualityConditions, type BadLinks } from './link-quality.js';
import type { Sight, SightedNode } from './sight.js';
import { silentAgents, type AgentVoice, type SilentFor } from './silent-agents.js';
import { worstFirst } from './worst-first.js';

/** ms between two looks at most that count as time in which somebody looked: there is one with each beacon. */
const LOOKED_ON = 2 * BEACON_PERIOD_MS;

/** What is beside the verdicts, from one look to the next. */
export class ConditionBook {
  private brokenSince: BrokenSince = new Map();
  private badLinks: BadLinks = new Set();
  private silentFor: SilentFor = new Map();
  private lookedAt = -Infinity;

  constructor(
    private readonly fleet: FleetView,
    private readonly reports: ReportBook,
    private readonly log: VerdictLog,
    private readonly agents: AgentBook,
  ) {}

  look(now: number): DetectorCondition[] {
    const sight = this.sight(now);
    const links = linkConditions(sight, this.brokenSince, now);
    const quality = qualityConditions(sight, this.badLinks);
    const passed = now - this.lookedAt;
    const { detection, leaveGrace } = this.fleet.settings;
    const silent = silentAgents(
      sight.nodes.map((node) => this.voiceOf(node, now)),
      this.silentFor,
      { freshness: detection.freshness, bootGrace: leaveGrace },
      passed <= LOOKED_ON ? passed : 0,
    );
    this.brokenSince = links.since;
    this.badLinks = quality.bad;
    this.silentFor = silent.silentFor;
    this.lookedAt = now;
    // Of what is told twice of a node the first counts: that its reports cannot be read says more than that none is heard.
    const told = [...links.conditions, ...quality.conditions, ...this.agents.conditions(now), ...silent.conditions];
    return worstFirst(told, sight.nodes.length);
  }

  private voiceOf({ name, verdict }: SightedNode, now: number): AgentVoice {
    const heard = this.reports.of(name);
    return {
      name,
      verdict,
      ...(heard && { reportAgeMs: now - heard.at }),
      hasReported: heard !== undefined || this.fleet.targets.get(name)?.record.verdict?.bootId !== undefined,
    };
  }

  private sight(now: number): Sight {
    const n = this.fleet.settings.detection;
    const nodes = this.fleet.members.map((name) => {
      const { verdict, networks } = this.log.judgementOf(name);
      return {
        name,
        networks: this.fleet.targets.get(name)?.networks ?? [],
        verdict,
        silentOn: networks,
        watchedBy: this.fleet.observersOf(name),
      };
    });
    const healthy = new Map(
      this.fleet.members
        .map((name) => [name, this.reports.of(name)] as const)
        .filter(([, heard]) => isHealthyReporter(heard, now, n)),
    );
    return {
      nodes,
      link: (observer, target, network) => {
        const heard = healthy.get(observer);
        const link = heard?.links.get(target)?.[heard.report.networks.indexOf(network)];
        if (!heard || !link || (heard.report.health.sendErrors[network] ?? 0) > 0) return undefined;
        return { state: linkState(link, n), link };
      },
    };
  }
}

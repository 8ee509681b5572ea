import type { DetectorCondition } from '#contracts';
import type { FleetView } from '../fleet/fleet-view.js';
import { linkState, type ReportBook } from '../observers/report-book.js';
import { isHealthyReporter } from '../observers/stance.js';
import type { VerdictLog } from '../verdicts/verdict-log.js';
import type { AgentBook } from './agent-book.js';
import { linkConditions, type BrokenSince } from './broken-links.js';
import { qualityConditions, type BadLinks } from './link-quality.js';
import type { Sight } from './sight.js';
import { worstFirst } from './worst-first.js';

/** What is beside the verdicts, from one look to the next. */
export class ConditionBook {
  private brokenSince: BrokenSince = new Map();
  private badLinks: BadLinks = new Set();

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
    this.brokenSince = links.since;
    this.badLinks = quality.bad;
    return worstFirst([...links.conditions, ...quality.conditions, ...this.agents.conditions(now)], sight.nodes.length);
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

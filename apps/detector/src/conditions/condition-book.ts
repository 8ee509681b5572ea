import { BEACON_PERIOD_MS, linkClass, silenceTimeout, type DetectorCondition } from '#contracts';
import { networksOut } from '#domain/verdict/networks-out.js';
import type { FleetView } from '../fleet/fleet-view.js';
import type { Heard, ReportBook } from '../observers/report-book.js';
import { isHealthyReporter, isMuteTo } from '../observers/stance.js';
import { lacksQuorum } from '../verdicts/quorum.js';
import type { LifeBaseline } from '../life/life-baseline.js';
import type { VerdictLog } from '../verdicts/verdict-log.js';
import type { AgentBook } from './agent-book.js';
import { linkConditions, type BrokenSince } from './broken-links.js';
import { sendConditions, type MuteFor } from './cannot-send.js';
import { withoutLossy } from './lossy-nodes.js';
import { badLink, qualityConditions, type BadLinks } from './link-quality.js';
import { keyConditions } from './outdated-keys.js';
import type { Sight, SightedNode } from './sight.js';
import { silentAgents, type AgentVoice, type SilentFor } from './silent-agents.js';
import { unjudged, type UnjudgedFor } from './unjudged.js';
import { worstFirst } from './worst-first.js';

/** ms between two samples at most that count as time in which somebody watched: there is one with each beacon. */
const LONGEST_SAMPLE_GAP = 2 * BEACON_PERIOD_MS;

/** What is beside the verdicts, from one sample to the next. */
export class ConditionBook {
  private brokenSince: BrokenSince = new Map();
  private badLinks: BadLinks | undefined;
  private silentFor: SilentFor = new Map();
  private unjudgedFor: UnjudgedFor = new Map();
  private muteFor: MuteFor = new Map();
  private sampledAt = -Infinity;

  constructor(
    private readonly fleet: FleetView,
    private readonly reports: ReportBook,
    private readonly log: VerdictLog,
    private readonly agents: AgentBook,
    private readonly baseline: Pick<LifeBaseline, 'conditions'>,
  ) {}

  /** @param keysOutdatedFor ms for which the monitor itself could not prove its probes */
  sample(now: number, keysOutdatedFor: number): DetectorCondition[] {
    const healthy = this.healthy(now);
    const sight = this.sight(healthy);
    const quality = qualityConditions(sight, this.badLinks, now);
    const loses = (node: string, network: string): boolean => quality.bad.losing.has(badLink(node, network));
    const links = linkConditions(sight, this.brokenSince, now, loses);
    const passed = now - this.sampledAt <= LONGEST_SAMPLE_GAP ? now - this.sampledAt : 0;
    const { detection, leaveGrace } = this.fleet.settings;
    const silent = silentAgents(
      sight.nodes.map((node) => this.voiceOf(node, now, loses)),
      this.silentFor,
      { freshness: detection.freshness, bootGrace: leaveGrace },
      passed,
    );
    const reports = [...healthy.values()].map((h) => h.report);
    const words = sight.nodes.map(({ name, networks }) => {
      const report = healthy.get(name)?.report;
      return { networks, ...(report && { report }) };
    });
    const unsent = sendConditions(reports, networksOut(words), this.muteFor, passed);
    const members = this.fleet.members.map((name) => ({ name, judgement: this.log.judgementOf(name) }));
    const none = unjudged(
      members,
      this.unjudgedFor,
      lacksQuorum(healthy.size, members.length),
      passed,
      silenceTimeout(detection),
    );
    this.unjudgedFor = none.unjudgedFor;
    this.muteFor = unsent.muteFor;
    this.brokenSince = links.since;
    this.badLinks = quality.bad;
    this.silentFor = silent.silentFor;
    this.sampledAt = now;
    // Of what is reported twice of a node the first counts: that it has no verdict, or cannot send, says more than that others
    // do not hear it, and that its reports cannot be read more than that none is heard.
    const reported = [
      ...none.conditions,
      ...keyConditions(keysOutdatedFor),
      ...unsent.conditions,
      ...links.conditions,
      ...quality.conditions,
      ...this.baseline.conditions(),
      ...this.agents.conditions(now),
      ...silent.conditions,
    ];
    return worstFirst(withoutLossy(reported, sight.nodes), sight.nodes.length);
  }

  private voiceOf(
    { name, verdict, networks, silentOn }: SightedNode,
    now: number,
    loses: (node: string, network: string) => boolean,
  ): AgentVoice {
    const heard = this.reports.of(name);
    return {
      name,
      verdict,
      heardWithGaps: networks.length > 0 && networks.every((n) => silentOn.includes(n)),
      loses: networks.length > 0 && networks.every((n) => silentOn.includes(n) || loses(name, n)),
      ...(heard && { reportAgeMs: now - heard.at }),
      hasReported: heard !== undefined || this.fleet.targets.get(name)?.record.verdict?.bootId !== undefined,
    };
  }

  /** Members that report freshly and are willing. */
  private healthy(now: number): Map<string, Heard> {
    const n = this.fleet.settings.detection;
    const healthy = new Map<string, Heard>();
    for (const name of this.fleet.members) {
      const heard = this.reports.of(name);
      if (isHealthyReporter(heard, now, n)) healthy.set(name, heard);
    }
    return healthy;
  }

  private sight(healthy: ReadonlyMap<string, Heard>): Sight {
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
    return {
      nodes,
      remarked: remarkedIn(healthy.values()),
      link: (observer, target, network) => {
        const heard = healthy.get(observer);
        const link = heard?.links.get(target)?.[heard.report.networks.indexOf(network)];
        if (!heard || !link || isMuteTo(heard.report, target, network)) return undefined;
        return { state: linkClass(link[0], link[1], n), link };
      },
    };
  }
}

function remarkedIn(reports: Iterable<Heard>): Set<string> {
  const remarked = new Set<string>();
  for (const { links } of reports)
    for (const [target, each] of links)
      for (const [misses, , lost = 0] of each) if (misses > 0 || lost > 0) remarked.add(target);
  return remarked;
}

import type { LinkObservations } from '../links/link-observation.js';
import {
  asSentence,
  type AgentHealth,
  type AgentMetrics,
  type Leaving,
  type LinkObservation,
  type PeerObservation,
  type Report,
  type RunningWorkload,
} from '#contracts/wire/report.js';

/** `networks` are sorted. */
export interface ReportParts
  extends
    Pick<Report, 'node' | 'bootId' | 'epoch' | 'seq' | 'listVersion' | 'networks' | 'keys'>,
    Pick<AgentHealth, 'sendErrors' | 'loopGapMs'> {
  peers: Iterable<string>;
  links: LinkObservations;
  now: number;
  warnings: string[];
  metrics: AgentMetrics | undefined;
  workloads: RunningWorkload[] | undefined;
  leaving: Leaving | undefined;
}

/** On a network that is not shared, or of which nothing is known yet. */
const NOTHING: LinkObservation = [0, -1];

/** What this agent says now. Lost peers stay in it with the misses that they had: what is said of one stands until it is answered. */
export function buildReport(p: ReportParts): Report {
  const peers = [...p.peers].map((peer): PeerObservation => [
    peer,
    p.networks.map((network): LinkObservation => {
      const link = p.links.link(peer, network);
      if (!link) return NOTHING;
      const lost = link.quality.lostPermille(p.now);
      return lost > 0 ? [link.misses, link.rttUs, lost] : [link.misses, link.rttUs];
    }),
  ]);
  return {
    v: 1,
    node: p.node,
    bootId: p.bootId,
    epoch: p.epoch,
    seq: p.seq,
    sentMs: Math.round(p.now),
    listVersion: p.listVersion,
    networks: p.networks,
    ...(p.keys && { keys: p.keys }),
    peers,
    health: healthOf(p),
    ...(p.workloads && { workloads: p.workloads }),
    ...(p.leaving && { leaving: p.leaving }),
  };
}

/** Why nothing that this agent misses says anything of others; undefined: it does. */
export function whyAbstain(p: Pick<ReportParts, 'links' | 'networks' | 'sendErrors' | 'now'>): string | undefined {
  if (p.links.abstains(p.now)) return 'its loop stood still';
  return p.networks.every((n) => (p.sendErrors[n] ?? 0) > 0) ? 'it cannot send on any network' : undefined;
}

function healthOf(p: ReportParts): AgentHealth {
  const reason = whyAbstain(p);
  const unsent = p.links.unsentBy(p.networks, p.now);
  return {
    abstain: reason !== undefined,
    ...(reason !== undefined && { reason }),
    sendErrors: p.sendErrors,
    ...(Object.keys(unsent).length > 0 && { unsent }),
    loopGapMs: Math.round(p.loopGapMs),
    ...(p.warnings.length > 0 && { warnings: p.warnings.map(asSentence) }),
    ...(p.metrics && { metrics: p.metrics }),
  };
}

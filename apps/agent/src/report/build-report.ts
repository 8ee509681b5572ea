import type { LinkObservations } from '../links/link-observation.js';
import type { AgentHealth, Leaving, PeerObservation, Report, RunningWorkload } from '#contracts/report.js';

/** `networks` are sorted. */
export interface ReportParts
  extends
    Pick<Report, 'node' | 'bootId' | 'epoch' | 'seq' | 'listVersion' | 'networks'>,
    Pick<AgentHealth, 'sendErrors' | 'loopGapMs'> {
  peers: Iterable<string>;
  links: LinkObservations;
  now: number;
  warnings: string[];
  workloads: RunningWorkload[] | undefined;
  leaving: Leaving | undefined;
}

/** On a network that is not shared, or of which nothing is known yet. */
const NOTHING: [number, number] = [0, -1];

/** What this agent says now. Lost peers stay in it with the misses that they had: an accusation stands until it is answered. */
export function buildReport(p: ReportParts): Report {
  const peers = [...p.peers].map((peer): PeerObservation => [
    peer,
    p.networks.map((network): [number, number] => {
      const link = p.links.link(peer, network);
      return link ? [link.misses, link.rttUs] : NOTHING;
    }),
  ]);
  return {
    v: 1,
    node: p.node,
    bootId: p.bootId,
    epoch: p.epoch,
    seq: p.seq,
    listVersion: p.listVersion,
    networks: p.networks,
    peers,
    health: healthOf(p),
    ...(p.workloads && { workloads: p.workloads }),
    ...(p.leaving && { leaving: p.leaving }),
  };
}

function healthOf(p: ReportParts): AgentHealth {
  const stoodStill = p.links.abstains(p.now);
  const mute = p.networks.every((n) => (p.sendErrors[n] ?? 0) > 0);
  const reason = stoodStill ? 'its loop stood still' : mute ? 'it cannot send on any network' : undefined;
  return {
    abstain: reason !== undefined,
    ...(reason !== undefined && { reason }),
    sendErrors: p.sendErrors,
    loopGapMs: Math.round(p.loopGapMs),
    ...(p.warnings.length > 0 && { warnings: p.warnings }),
  };
}

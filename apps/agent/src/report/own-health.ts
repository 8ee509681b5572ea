import type { PeerList } from '#contracts/wire/peers.js';
import type { AgentMetrics, RejoinCounts } from '#contracts/wire/report.js';
import type { DropCounters } from '../wire/drop-counters.js';
import { BUFFER_BYTES, type UdpSocket } from '../wire/udp-socket.js';

type Networks = Record<string, { bind: string }>;

/** Networks on which the registry has another address than this agent is bound to, with that address. */
export const addressesElsewhere = (own: Networks, list: PeerList | undefined): [network: string, address: string][] =>
  Object.entries(own).flatMap(([network, { bind }]): [string, string][] => {
    const listed = list?.self.networks[network];
    return listed === undefined || listed === bind ? [] : [[network, listed]];
  });

/** What about the sockets and the addresses is not as it should be. */
export function wireWarnings(sockets: Iterable<UdpSocket>, own: Networks, list: PeerList | undefined): string[] {
  const small = [...sockets].filter((s) => s.up && s.bufferBytes < BUFFER_BYTES);
  return [
    ...small.map((s) => `buffer: ${s.bufferBytes} of ${BUFFER_BYTES} bytes on ${s.network}`),
    ...addressesElsewhere(own, list).map(
      ([n]) => `address: the registry has another one than this agent is bound to on ${n}`,
    ),
  ];
}

/**
 * @param standstills how often the loop ran so late that the agent abstained
 * @param unsent probes that did not leave
 */
export function metricsOf(
  sockets: Iterable<UdpSocket>,
  counters: DropCounters,
  rejoin: RejoinCounts,
  standstills: number,
  unsent: number,
  self: Required<Pick<AgentMetrics, 'version' | 'wallMs'>>,
): AgentMetrics {
  const { user, system } = process.cpuUsage();
  let sent = 0;
  for (const socket of sockets) sent += socket.sent;
  return {
    ...self,
    rssBytes: process.memoryUsage.rss(),
    cpuMs: Math.round((user + system) / 1000),
    sent,
    unsent,
    received: counters.received,
    dropped: { ...counters.dropped },
    rejoin,
    standstills,
  };
}

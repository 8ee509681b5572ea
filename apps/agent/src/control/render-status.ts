import { linkClass } from '#contracts/wire/link.js';
import type { Report } from '#contracts/wire/report.js';
import type { RejoinHappening } from '../membership/rejoin-diary.js';
import type { AgentStatus } from './agent-status.js';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** `heard 0.4 ms`, `missing (4)`, `silent (12)`, with the share of lost probes where some were; `cannot send`. */
function linkText(
  link: Report['peers'][number][1][number] | undefined,
  s: AgentStatus,
  peer: string,
  network: string,
): string {
  if (!link) return 'not shared';
  if (s.health.unsent?.[network]?.peers.includes(peer)) return 'cannot send';
  const [misses, rttUs, lost = 0] = link;
  const state = s.list ? linkClass(misses, rttUs, s.list.detection) : 'unknown';
  const facts = state === 'heard' ? ` ${(rttUs / 1000).toFixed(1)} ms` : misses > 0 ? ` (${misses})` : '';
  return `${state}${facts}${lost > 0 ? `, ${(lost / 10).toFixed(1)} % lost` : ''}`;
}

/** `signs with 1f3a9c2e, accepts 77aa01bc too`: what names them, never the keys. */
const keysText = ([first, ...others]: readonly string[] = []): string =>
  `signs with ${first ?? '?'}${others.length > 0 ? `, accepts ${others.join(', ')} too` : ''}`;

/** Columns of equal width, two spaces apart. */
function columns(rows: string[][]): string[] {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, i) => Math.max(cell.length, most[i] ?? 0)), []);
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
}

const happeningTexts: Record<RejoinHappening['what'], string> = {
  lost: 'lost',
  greeted: 'rejoin attempt',
  joined: 'rejoined',
};

function rejoinLines({ rejoin, health }: AgentStatus): string[] {
  const counts = health.metrics?.rejoin;
  const off = Object.entries(rejoin.switches).filter(([, on]) => !on);
  const runs = Object.entries(counts?.runs ?? {}).map(([why, n]) => `${n} by ${why}`);
  return [
    `rejoin: ${rejoin.lost.length === 0 ? 'nobody is lost' : `lost ${rejoin.lost.join(', ')}`}${rejoin.isolated ? ' (isolated)' : ''}`,
    `  runs: ${runs.length === 0 ? 'none yet' : runs.join(', ')}; ` +
      (rejoin.nextRunInMs === null ? 'none by the timer' : `the next by the timer in ${seconds(rejoin.nextRunInMs)}`),
    `  since the start: ${counts?.lost ?? 0} lost, ${counts?.greeted ?? 0} rejoin attempts, ${counts?.joined ?? 0} rejoined`,
    ...(off.length > 0 ? [`  switched off: ${off.map(([name]) => name).join(', ')}`] : []),
    ...columns(rejoin.happenings.map((h) => [new Date(h.at).toISOString(), happeningTexts[h.what], h.peer, h.why])),
  ];
}

/** Where its own probes do not leave: a line for each network. */
function unsentLines({ health, networks }: AgentStatus): string[] {
  return networks.flatMap((network) => {
    const u = health.unsent?.[network];
    if (!u) return [];
    const whom = (health.sendErrors[network] ?? 0) > 0 ? 'anybody' : u.peers.join(', ');
    return [`  cannot send to ${whom} on ${network}: ${u.error}; ${u.probes} probes in a row, for ${seconds(u.forMs)}`];
  });
}

/** What the agent knows and does, for people. Ends with a line break. */
export function renderStatus(s: AgentStatus): string {
  const { health } = s;
  const m = health.metrics;
  const dropped = Object.entries(m?.dropped ?? {}).map(([why, n]) => `${n} ${why}`);
  const rows = s.peers.map(([peer, links]) => [
    peer,
    s.rejoin.lost.includes(peer) ? 'lost' : 'member',
    ...links.map((link, i) => {
      const shared = s.networks[i]! in (s.list?.peers.find((p) => p.name === peer)?.networks ?? {});
      return linkText(shared ? link : undefined, s, peer, s.networks[i]!);
    }),
  ]);
  return [
    `${s.node}: epoch ${s.epoch}, boot ${s.bootId}, report ${s.seq}`,
    `peer list: ${s.list ? `version ${s.list.version}, ${s.list.peers.length} peers, profile ${s.list.detection.profile}` : 'none yet'}`,
    `datagram keys: ${keysText(s.keys)}`,
    `NATS: ${s.nats.length === 0 ? 'not connected' : `connected over ${s.nats.join(', ')}`}`,
    ...s.sockets.map(
      (x) =>
        `socket ${x.network}: ${x.up ? `bound, ${x.bufferBytes} bytes of buffer` : `not bound (${x.lastError ?? '?'})`}`,
    ),
    `health: ${health.abstain ? `abstains, ${health.reason ?? '?'}` : health.unsent ? 'cannot send everywhere' : 'good'}`,
    ...unsentLines(s),
    ...(health.warnings ?? []).map((w) => `  warning: ${w}`),
    ...(m
      ? [
          `datagrams: ${m.sent} sent, ${m.unsent ? `${m.unsent} probes not sent, ` : ''}${m.received} received, dropped: ${dropped.length === 0 ? 'none' : dropped.join(', ')}`,
          `process: ${Math.round(m.rssBytes / 1024 / 1024)} MB, ${seconds(m.cpuMs)} of processor time, stood still ${m.standstills} times`,
        ]
      : []),
    ...(s.plainAnswered === undefined ? [] : [`bare probes answered: ${s.plainAnswered}`]),
    `workloads: ${s.workloads === undefined ? 'not known' : s.workloads.length === 0 ? 'none' : s.workloads.map((w) => `${w.name} (generation ${w.generation})`).join(', ')}`,
    '',
    ...columns([['PEER', 'STATE', ...s.networks.map((n) => n.toUpperCase())], ...rows]).map((l) => l.slice(2)),
    '',
    ...rejoinLines(s),
    '',
  ].join('\n');
}

import { MusterError } from '#contracts';
import { isAtLeast } from '../servers/server-floor.js';
import { maxFileStore } from './store-limits.js';

export interface NatsConfigOptions {
  cluster: string;
  /** `host:port`; several must share the port: nats-server listens on one address or on all. */
  natsListen: string[];
  storeDir: string;
  /** Port of the server's monitoring page on 127.0.0.1. @default none */
  monitor?: number;
  /** E.g. `2.12.1`. Each server refuses settings that it does not know. @default the oldest supported */
  natsVersion?: string;
  /** What JetStream may keep, bytes. @default as on a small disk */
  maxFileStore?: number;
  /** Files of its certificate, as the server finds them. @default it speaks without TLS */
  tls?: { certificate: string; key: string };
  /** Makes it one server of a cluster, of a version that a cluster may have. @default a single server */
  member?: ClusterMember;
}

/** What a server of a cluster knows of itself and of the others. */
export interface ClusterMember {
  /** Of this server. */
  name: string;
  /** Where it listens for the others, `host:port`. */
  listen: string;
  /** Where the others listen. */
  routes: string[];
  /** Files as it finds them: the others are let in by a certificate of this CA, for one of these keys. */
  tls: { certificate: string; key: string; ca: string };
  /** Of the servers' keys, its own as well: see `pinOf`. */
  pins: readonly string[];
}

const quote = (text: string): string => JSON.stringify(text);

/** CONFIG_INVALID where an address is not host:port or the ports differ. */
export function listenAddress(addresses: string[]): string {
  const parts = addresses.map((address) => /^(.+):(\d{1,5})$/.exec(address));
  const wrong = addresses.find((_, i) => !parts[i] || Number(parts[i][2]) > 65535);
  if (addresses.length === 0 || wrong !== undefined)
    throw new MusterError('CONFIG_INVALID', `NATS must listen on host:port, not on "${wrong ?? ''}"`);
  const ports = new Set(parts.map((p) => p![2]));
  if (ports.size > 1)
    throw new MusterError('CONFIG_INVALID', `NATS listens on one port, not on ${[...ports].join(' and ')}`);
  return addresses.length === 1 ? addresses[0]! : `0.0.0.0:${parts[0]![2]}`;
}

/** s. The default of half a second is less than a busy machine may need. */
const HANDSHAKE = 10;

const tlsBlock = (files: NatsConfigOptions['tls']): string[] =>
  files === undefined
    ? []
    : [
        'tls {',
        `  cert_file: ${quote(files.certificate)}`,
        `  key_file: ${quote(files.key)}`,
        `  timeout: ${HANDSHAKE}`,
        '}',
      ];

const clusterBlock = (cluster: string, { listen, routes, tls, pins }: ClusterMember): string[] => [
  'cluster {',
  `  name: ${quote(cluster)}`,
  `  listen: ${quote(listen)}`,
  `  routes: [${routes.map((at) => quote(`nats-route://${at}`)).join(', ')}]`,
  '  # Clients know every server by their configuration: a server knows its addresses, not which of them are whose.',
  '  no_advertise: true',
  '  tls {',
  `    cert_file: ${quote(tls.certificate)}`,
  `    key_file: ${quote(tls.key)}`,
  `    ca_file: ${quote(tls.ca)}`,
  '    verify: true',
  // A user and a password would be cleared by --cluster_listen, which a composition gives.
  '    # The CA signs more than servers: these are the keys of the servers that are let in, and connected to.',
  `    pinned_certs: [${pins.map(quote).join(', ')}]`,
  `    timeout: ${HANDSHAKE}`,
  '  }',
  '}',
];

const INCLUDE = 'include "nats-accounts.conf"';

/**
 * A configuration that {@link natsConfig} has made, and others have edited, with TLS.
 * @throws MusterError CONFIG_INVALID where it is of somebody else
 */
export function withTls(conf: string, files: { certificate: string; key: string }, alsoPlain: boolean): string {
  const at = conf.lastIndexOf(`\n${INCLUDE}`);
  if (at < 0) throw new MusterError('CONFIG_INVALID', 'nats.conf is not as muster init writes it: add its tls by hand');
  const rest = conf.slice(at + 1);
  const before = conf.slice(0, at).replace(/\nallow_non_tls: \w+/, '');
  const tls = /^tls \{/m.test(conf) ? [] : tlsBlock(files);
  return [before, ...tls, ...(alsoPlain ? ['allow_non_tls: true'] : []), rest].join('\n');
}

export function natsConfig(o: NatsConfigOptions): string {
  const always = o.member !== undefined || (o.natsVersion !== undefined && isAtLeast(o.natsVersion, '2.10'));
  return [
    '# Written by muster init. Whose users are let in: nats-accounts.conf, written by the same.',
    `server_name: ${quote(o.member?.name ?? `muster-${o.cluster}`)}`,
    `listen: ${quote(listenAddress(o.natsListen))}`,
    ...(o.monitor === undefined ? [] : [`http: "127.0.0.1:${o.monitor}"`]),
    'max_payload: 8MB',
    '# A user comes with all that it may do, in one line: inventory has 5 KB of it, and the default is 4.',
    'max_control_line: 32KB',
    '# A client that is silently cut off is noticed in 3 s.',
    'ping_interval: "1s"',
    'ping_max: 2',
    ...tlsBlock(o.tls),
    'jetstream {',
    `  store_dir: ${quote(o.storeDir)}`,
    // The server's default is three quarters of what is free when it starts: a fuller disk would lose it its streams.
    `  max_file_store: ${o.maxFileStore ?? maxFileStore()}`,
    // The default writes to the disk every two minutes: what was acknowledged could be lost on a power cut.
    ...(always ? ['  sync_interval: always'] : []),
    '}',
    ...(o.member === undefined ? [] : clusterBlock(o.cluster, o.member)),
    INCLUDE,
    '',
  ].join('\n');
}

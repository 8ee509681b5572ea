import { token } from './names.js';

/** Every subject of Muster is built here and nowhere else: permissions of the NATS users derive from these functions. */
export const Subjects = {
  /** Request/reply by Nest's NATS transport, queue group = service. */
  rpc: (service: ServiceName, verb: string): string => `muster.rpc.${service}.${verb}`,
  /** An agent's report, every second and at once on change. Core NATS, not stored. */
  report: (node: string): string => `muster.report.${token(node)}`,
  /** Plain request of an agent for its own {@link PeerList}; answered by inventory. */
  peers: (node: string): string => `muster.peers.${token(node)}`,
  /** Told to an agent when its peer list has changed: it asks anew. Core NATS, not stored. */
  peersChanged: (node: string): string => `muster.peers-changed.${token(node)}`,
  /** Plain request of an agent's start gate: may this workload start here, now? Answered by inventory from a live read. */
  gate: (node: string): string => `muster.gate.${token(node)}`,
  /** Plain {@link PollRequest} of the active detector to an agent: look at these nodes now. */
  poll: (node: string): string => `muster.poll.${token(node)}`,
  /** Plain {@link LifeQuestion} of a detector to an agent: look for life at this peer of yours now. */
  life: (node: string): string => `muster.life.${token(node)}`,
  /** Durable liveness verdicts. */
  verdict: (node: string): string => `muster.verdict.${token(node)}`,
  /** Durable events; see {@link EventMap}. */
  event: (kind: string, key: string): string => `muster.event.${kind}.${token(key)}`,
  /** Lines of a job's log, durable. */
  log: (job: string): string => `muster.log.${token(job)}`,
  /** One a second by the active detector; who has seen none for 3 s treats every verdict as UNKNOWN. */
  beacon: (): string => 'muster.beacon.detector',
  /** Plain request: the active detector's verdict on a node as of now. Only the lease holder answers. */
  currentVerdict: (): string => 'muster.ask.detector.verdict',
  /** Plain request of a service for a reading of a stream, which inventory has the server make: its messages come by {@link feed}. */
  read: (service: ServiceName): string => `muster.read.${service}`,
  /** What is read for a service. @param reading one token of its own choice */
  feed: (service: ServiceName, reading: string): string => `muster.feed.${service}.${reading}`,
  /** Plain request: how the conductor's tasks go. Only the holder of its lease answers. */
  tasks: (): string => 'muster.rpc.inventory.tasks',
  /** Plain request: what the conductor would do next. Only the holder of its lease answers. */
  conductorPlan: (): string => 'muster.rpc.inventory.conductor-plan',
  /** Plain request {node} to the conductor: who its power devices said they are a moment ago. */
  conductorIdentity: (): string => 'muster.rpc.inventory.conductor-identity',
  /** Inlet for other monitors: `{"nodes":[{label,serial,addr},…]}`. */
  monitor: (name: 'discovered' | 'disappeared'): string => `muster.monitor.${name}`,
  /** Inlet for tools: plain JSON in, plain `{ok, job | code, message}` out; `events` replays what was told. */
  command: (kind: 'commission' | 'decommission' | 'maintenance' | 'discover' | 'check' | 'fence' | 'events'): string =>
    `muster.cmd.${kind}`,
} as const;

export const ServiceNames = ['detector', 'inventory', 'provisioner', 'fencer', 'gateway'] as const;
export type ServiceName = (typeof ServiceNames)[number];

/** The one durable stream: verdicts and events. Job logs have their own, since they are large and are kept differently. */
export const Streams = {
  events: { name: 'MUSTER', subjects: ['muster.verdict.>', 'muster.event.>'] },
  logs: { name: 'MUSTER_LOGS', subjects: ['muster.log.>'] },
} as const;

/**
 * KV buckets. `admission` holds two keys, `reservations` and `permits`: each is one value, so that a decision over
 * many nodes is one compare-and-set.
 */
export const Buckets = [
  'nodes',
  'incidents',
  'jobs',
  'workloads',
  'workers',
  'alarms',
  'leases',
  'settings',
  'secrets',
  'admission',
  /** API tokens by their name. */
  'tokens',
  /** Answers to requests that came with an Idempotency-Key; each for a day. */
  'idempotency',
] as const;
export type BucketName = (typeof Buckets)[number];

/**
 * A stream that holds nothing: it is created last, so its existence says that all the others are whole. nats-server 2.9
 * dies of a nil pointer when a stream is read in the milliseconds of its creation. It counts the buckets: that of an
 * earlier Muster, which knew fewer, says nothing of those that are still to be created.
 */
export const ReadyStream = {
  name: `MUSTER_READY_${Buckets.length}`,
  subjects: [`muster.ready.${Buckets.length}`],
} as const;

export { Bus, connectBus } from './bus.js';
export { rpcSubject } from './call.js';
export { readCredentials } from './credentials.js';
export type { Delivery } from './durable-consumer.js';
export { FreshReads } from './fresh-reads.js';
export type { FollowHandler, FollowOptions } from './follow.js';
export type { LogChunk, ReadLogOptions } from './job-log.js';
export { addAgentUsers, credentialsFile, initCluster, isCluster, type InitOptions } from './init/init-cluster.js';
export { issueAgentCredentials, readAgentsKey, type AgentsKey } from './init/agents-key.js';
export {
  connectedAgents,
  revokeAgentUsers,
  revokedAgentUsers,
  type AgentConnection,
  type RevocationOptions,
} from './init/revocation.js';
export { readRevokerKey, type RevokerKey } from './init/revoker-key.js';
export { natsServerVersion } from './init/nats-version.js';
export { userKinds, type UserKind } from './init/permissions.js';
export { KvBucket, type WriteOptions } from './kv-bucket.js';
export { KvView } from './kv-view.js';
export type { WatchOptions } from './kv-watch.js';
export { runGuarded, type GuardedRun, type GuardOptions, type GuardResult } from './guard.js';
export type { LastUntil } from './last-until.js';
export { Lease, type LeaseListener, type LeaseOptions, type LeaseViewer } from './lease.js';
export type { LeaseRecord } from './lease-decide.js';
export { leaseServerRefusal } from './lease-server.js';
export { LineSplitter } from './line-splitter.js';
export { natsOptions } from './link.js';
export type { PastEvent, ReadBackOptions } from './read-back.js';
export { assignByRendezvous } from './rendezvous.js';
export { openSecret, readSecretsKey, sealSecret, type SealedSecret } from './secrets.js';
export { matches } from './subject-filter.js';
export {
  silentLog,
  type BusCredentials,
  type BusLog,
  type BusOptions,
  type Closable,
  type Entry,
  type Watch,
} from './types.js';
export { WorkerRegistry, type AnnouncedWorker, type WorkerAnnouncement, type WorkerView } from './worker-registry.js';

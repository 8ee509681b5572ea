export { Bus, connectBus } from './bus/bus.js';
export { rpcSubject } from './rpc/call.js';
export { readCredentials } from './keys/credentials.js';
export type { Delivery } from './streams/durable-consumer.js';
export { FreshReads } from './kv/fresh-reads.js';
export type { FollowHandler, FollowOptions } from './streams/follow.js';
export type { LogChunk, ReadLogOptions } from './streams/job-log.js';
export {
  addAgentUsers,
  addToolUser,
  credentialsFile,
  enableTls,
  configuredStore,
  hasSeparateServices,
  initCluster,
  isCluster,
  revokeToolUser,
  separateServices,
  toolUsers,
  type InitOptions,
} from './init/init-cluster.js';
export { initHosts, type HostPlace, type HostsOptions, type WrittenHosts } from './init/init-hosts.js';
export { hostFolder, parseControlHosts, writtenHosts, type ControlHost } from './init/control-hosts.js';
export { issueAgentCredentials, readAgentsKey, type AgentsKey } from './init/agents-key.js';
export {
  accountChanges,
  connectedAgents,
  revokeAgentUsers,
  revokedAgentUsers,
  type AgentConnection,
  type RevocationOptions,
  type RevocationReach,
} from './init/revocation.js';
export { readRevokerKey, type RevokerKey } from './init/revoker-key.js';
export { BUCKET_BIRTHS_KEY, type BucketBirths } from './store-copy/carried-births.js';
export {
  loadStore,
  restoredStore,
  saveStore,
  type NewGeneration,
  type StoreCopyOptions,
} from './store-copy/copy-store.js';
export { natsServers } from './init/server-facts.js';
export { userKinds, type ToolRole, type UserKind } from './users/permissions.js';
export { KvBucket, type WriteOptions } from './kv/kv-bucket.js';
export type { UnreadableBook } from './ports/unreadable-book.js';
export { KvView } from './kv/kv-view.js';
export type { WatchOptions } from './kv/kv-watch.js';
export { runGuarded, type GuardedRun, type GuardOptions, type GuardResult } from './guard/guard.js';
export type { LastUntil } from './streams/last-until.js';
export { Lease, type LeaseListener, type LeaseOptions, type LeaseViewer } from './lease/lease.js';
export { TokenMemory, tokenFloor } from './lease/token-floor.js';
export type { LeaseRecord } from './lease/lease-decide.js';
export { askServers } from './nats/ask-servers.js';
export { serverRefusal, serversRefusal, singleServerLack, type NatsServer } from './servers/server-floor.js';
export { LineSplitter } from './streams/line-splitter.js';
export { shownCertificate } from './init/certificates.js';
export { authorityOf, moveKeyApart, renewServerCertificate } from './init/tls-files.js';
export { natsOptions } from './nats/connect.js';
export type { BusPorts } from './ports/link.js';
export { writeAnswer } from './rpc/trailing-text.js';
export { forgetOldest } from './ports/forget-oldest.js';
export { ApiErrors, ApiFailure } from './ports/log-failure.js';
export { SparseLog } from './ports/sparse-log.js';
export type * from './ports/message-log.js';
export type * from './ports/wire.js';
export { diskOf, storeRoomWarning } from './init/store-limits.js';
export { readDisk } from './store-health/disk.js';
export {
  hasRoom,
  isFull,
  spaceWarning,
  type Disk,
  type StoreFacts,
  type StoreFault,
} from './store-health/store-health.js';
export type { Stalled } from './pulse/pulses.js';
export { StoreWatch } from './store-health/store-watch.js';
export type { PastEvent, ReadBackOptions } from './streams/read-back.js';
export { assignByRendezvous } from './workers/rendezvous.js';
export { openMembers, sealMembers } from './keys/sealed-members.js';
export { openSecret, readSecretsKey, sealSecret, type SealedSecret } from './keys/secrets.js';
export { matches } from './streams/subject-filter.js';
export {
  silentLog,
  type BusCredentials,
  type BusLog,
  type BusOptions,
  type Closable,
  type Entry,
  type Watch,
} from './ports/types.js';
export {
  WorkerRegistry,
  type AnnouncedWorker,
  type WorkerAnnouncement,
  type WorkerView,
} from './workers/worker-registry.js';
export { systemClock } from './system/system-clock.js';
export { systemRandom } from './system/system-random.js';
export type { EventStorage } from './streams/verdict-storage.js';

export { Bus, connectBus } from './bus.js';
export { rpcSubject } from './call.js';
export { readCredentials } from './credentials.js';
export type { Delivery } from './durable-consumer.js';
export type { FollowHandler, FollowOptions } from './follow.js';
export type { LogChunk, ReadLogOptions } from './job-log.js';
export { KvBucket, type WriteOptions } from './kv-bucket.js';
export { KvView } from './kv-view.js';
export type { WatchOptions } from './kv-watch.js';
export { natsOptions } from './link.js';
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

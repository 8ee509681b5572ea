export {
  AgentsConfig,
  AnsibleConfig,
  buildConfig,
  CompatConfig,
  HostConfig,
  HttpConfig,
  KeysConfig,
  loadConfig,
  MetricsConfig,
  NatsConfig,
  ServiceConfig,
} from './config.js';
export { contextModule, openContext, ServiceContext } from './context.js';
export { endDisplaced } from './displaced.js';
export { effectiveAnsible } from './effective-ansible.js';
export { createLogger, NestLog } from './logger.js';
export { MISNAMED, ServiceMetrics } from './metrics/service-metrics.js';
export { runUntilSignal, serviceMain, serviceMainWith } from './main.js';
export { ownSeal } from './record-seal.js';
export { Rpc, RpcErrors } from './rpc.js';
export {
  startInContext,
  startService,
  startWith,
  type NestModule,
  type RunningService,
  type WatchedService,
} from './start.js';

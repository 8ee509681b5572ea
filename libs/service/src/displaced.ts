import type { ServiceName } from '#contracts';
import type { ServiceContext } from './context.js';

/** For a worker of whom a second process has the name: each would take the other's work for its own, so this one ends. */
export const endDisplaced =
  (service: ServiceName, { log, config }: ServiceContext) =>
  (by: string): void => {
    log.fatal({ by }, `another ${service} runs as ${config.instance}: this one ends`);
    process.kill(process.pid, 'SIGTERM');
  };

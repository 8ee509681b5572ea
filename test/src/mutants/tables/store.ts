import type { Mutant } from '../mutant.js';

const health = ['libs/bus/src/store-health/store-health.spec.ts'];
const revival = ['apps/standalone/src/revival-decision.spec.ts'];
const limits = ['libs/bus/src/init/store-limits.spec.ts'];

/** A store that cannot be written is named, and nothing makes it worse. */
export const store: readonly Mutant[] = [
  {
    name: 'a full disk is named only where NATS can be reached',
    file: 'libs/bus/src/store-health/store-health.ts',
    symbol: 'storeTrouble',
    operation: {
      replace: 'f.disk !== undefined && isFull(f.disk)',
      with: 'f.connected && f.disk !== undefined && isFull(f.disk)',
    },
    specs: health,
  },
  {
    name: 'a store that is silent is not told of',
    file: 'libs/bus/src/store-health/store-health.ts',
    symbol: 'storeTrouble',
    operation: { replace: 'f.silentForMs >= SILENT_AFTER_MS', with: 'false' },
    specs: health,
  },
  {
    name: 'streams that vanished are taken for an installation that has just begun',
    file: 'libs/bus/src/store-health/store-health.ts',
    symbol: 'storeTrouble',
    operation: { operand: 'f.wasWhole' },
    specs: health,
  },
  {
    name: 'a server is restarted on a disk without room, and loses its streams',
    file: 'apps/standalone/src/revival-decision.ts',
    symbol: 'decideRevival',
    operation: { drop: 'if (!hasRoom(disk)) return { state };' },
    specs: revival,
  },
  {
    name: 'a server whose disk was full is left as it is',
    file: 'apps/standalone/src/revival-decision.ts',
    symbol: 'decideRevival',
    operation: { replace: 'was.wasFull || isFull(disk)', with: 'false' },
    specs: revival,
  },
  {
    name: 'the limit of JetStream goes by what is free when it starts',
    file: 'libs/bus/src/init/nats-config.ts',
    symbol: 'natsConfig',
    operation: { row: '`  max_file_store: ${o.maxFileStore ?? maxFileStore()}`' },
    specs: limits,
  },
];

import { join } from 'node:path';
import { execaSync } from 'execa';
import { PROJECT } from '../folder.js';
import { refuseUnfit } from './server-in-cluster.js';

export interface NatsProgram {
  path: string;
  /** `2.15.1` */
  version: string;
}

/** What a cluster can be made of: newer than what the system has. CONFIG_INVALID says why there is none. */
export function clusterNats(): NatsProgram {
  const brought = execaSync(process.execPath, [join(PROJECT, 'scripts/setup/newer-nats.mjs')], {
    timeout: 200_000,
    reject: false,
  });
  const path = brought.stdout.trim();
  if (brought.failed) refuseUnfit(undefined, brought.stderr.trim() || brought.shortMessage || 'it could not be had');
  const said = execaSync(path, ['--version'], { reject: false }).stdout;
  return { path, version: refuseUnfit(/v(\d+\.\d+\.\d+)/.exec(said)?.[1], path) };
}

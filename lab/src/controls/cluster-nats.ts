import { join } from 'node:path';
import { execaSync } from 'execa';
import { serverRefusal } from '#bus';
import { natsServerVersion } from '#bus/init/nats-version.js';
import { MusterError } from '#contracts';
import { PROJECT } from '../folder.js';

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
  if (brought.failed) refuse(brought.stderr.trim() || brought.shortMessage || 'it could not be had');
  const version = natsServerVersion(path) ?? refuse(`${path} does not say its version`);
  const refusal = serverRefusal({ version, cluster: 'lab' });
  return refusal === undefined ? { path, version } : refuse(refusal);
}

function refuse(why: string): never {
  throw new MusterError('CONFIG_INVALID', `--control 3 needs a nats-server that a cluster may have: ${why}`);
}

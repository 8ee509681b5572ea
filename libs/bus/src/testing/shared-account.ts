import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addAgentUsers, credentialsFile } from '../init/init-cluster.js';
import { ApartServices } from '../users/permissions.js';

/** Makes a folder of `muster init` as an earlier one made it: all users are of the account with the records. */
export async function shareAccount(dir: string): Promise<void> {
  for (const key of ['operator', 'revoker']) {
    const file = join(dir, 'keys', `${key}.key`);
    const { own: _own, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { own?: object };
    writeFileSync(file, JSON.stringify(rest));
  }
  for (const service of ApartServices) rmSync(credentialsFile(dir, service));
  await addAgentUsers(dir, []);
}

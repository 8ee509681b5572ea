import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeProcessGroups } from './faults/service-fault.js';
import { removeStoreDisk } from './faults/store-disk.js';
import { removeStoreImages } from './faults/store-images.js';
import { PROJECT, type LabFolder } from './folder.js';
import { labNamespaces, removeNetwork } from './network.js';
import { labId } from './plan.js';
import { PYTHON } from './python.js';
import { run } from './run.js';

export interface DownAnswer {
  processes: number;
  namespaces: number;
}

/**
 * Ends what this lab has started and removes what it made outside its folder: found by the lab's mark and by its id, not
 * by what was written down, so that it works after any crash. Logs, ledger and BMC logs stay unless `purge`.
 */
export async function down(folder: LabFolder, o: { purge: boolean }): Promise<DownAnswer> {
  const id = labId(folder.path);
  const namespaces = labNamespaces(id);
  const sweep = join(PROJECT, 'lab/host/sweep.py');
  const ended = Number(await run(PYTHON, ['-I', '-S', '-B', sweep, folder.path, ...namespaces]));
  await removeNetwork(id);
  removeProcessGroups(id);
  const layers = folder.at('layers');
  if (readFileSync('/proc/self/mounts', 'utf8').includes(` ${layers} `)) await run('umount', [layers]);
  await removeStoreDisk(folder);
  await removeStoreImages(folder);
  if (folder.exists()) {
    for (const host of existsSync(folder.at('hosts')) ? readdirSync(folder.at('hosts')) : [])
      rmSync(folder.host(host, 'layers'), { recursive: true, force: true });
    folder.write({ ...folder.record(), state: 'down' });
    if (o.purge) rmSync(folder.path, { recursive: true, force: true });
  }
  return { processes: ended, namespaces: namespaces.length };
}

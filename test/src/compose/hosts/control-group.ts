import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../../lab/src/until.js';

const ROOT = '/sys/fs/cgroup';
const GONE_MS = 20_000;

/** Whose processes have been killed: resolves when none of them is left, nor any of the group's folders. */
export async function removeControlGroup(name: string): Promise<void> {
  // Of the one hierarchy of version 2, or of each of version 1.
  const places = [ROOT, ...readdirSync(ROOT).map((hierarchy) => join(ROOT, hierarchy))];
  await until(`control group ${name} to be empty`, GONE_MS, () => {
    for (const place of places) removeFolders(join(place, name));
    return true;
  });
}

/** The files in them are the kernel's, and go with them. */
function removeFolders(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeFolders(join(folder, entry.name));
  rmdirSync(folder);
}

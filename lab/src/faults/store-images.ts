import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { LabFolder } from '../folder.js';
import type { ControlPlan } from '../plan.js';
import { run } from '../run.js';

/** Sparse: they take what is written to them. */
const CLONING_BYTES = 20 * 1024 ** 3;
const IMAGE_BYTES = 5 * 1024 ** 3;

const disks = (folder: LabFolder): string => folder.at('disks');
const image = (folder: LabFolder, control: ControlPlan): string => `${disks(folder)}/${control.name}.img`;

const mount = (what: string, where: string): Promise<string> => run('mount', ['-o', 'loop', what, where]);

function sparse(file: string, bytes: number): void {
  writeFileSync(file, '');
  truncateSync(file, bytes);
}

/** A file system that can clone a file at one instant, for the disks of the control hosts. */
export async function makeCloningDisk(folder: LabFolder): Promise<void> {
  const file = folder.at('disks.xfs');
  sparse(file, CLONING_BYTES);
  await run('mkfs.xfs', ['-q', '-m', 'reflink=1', file]);
  mkdirSync(disks(folder));
  await mount(file, disks(folder));
}

/** The store of a control host's nats-server is on a disk of its own from now on. */
export async function makeStoreImage(folder: LabFolder, control: ControlPlan, store: string): Promise<void> {
  const file = image(folder, control);
  sparse(file, IMAGE_BYTES);
  await run('mkfs.ext4', ['-q', '-F', file]);
  mkdirSync(store, { recursive: true });
  await mount(file, store);
}

/** The disk as it would be after a power cut: what was written and not synced is not on it. All who write stand still. */
export async function copyStoreImage(folder: LabFolder, control: ControlPlan): Promise<void> {
  await run('cp', ['--reflink=always', image(folder, control), `${image(folder, control)}.cut`]);
}

/** That copy takes the place of the disk. Nobody has a file of it open. */
export async function useCopiedImage(folder: LabFolder, control: ControlPlan, store: string): Promise<void> {
  await run('umount', [store]);
  renameSync(`${image(folder, control)}.cut`, image(folder, control));
  await mount(image(folder, control), store);
}

/** What was mounted, and the disks with all that is on them. */
export async function removeStoreImages(folder: LabFolder): Promise<void> {
  const mounted = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const at of mounted.filter((m) => m.startsWith(`${folder.at('etc')}/`))) await run('umount', [at]);
  // Whoever has a mount namespace of its own, also of another lab, may hold a copy of these mounts for as long as it runs.
  if (mounted.includes(disks(folder))) await run('umount', ['--lazy', disks(folder)]);
  rmSync(folder.at('disks.xfs'), { force: true });
}

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import { killNats, startNats } from '../cluster.js';
import type { LabFolder } from '../folder.js';
import type { LabPlan } from '../plan.js';
import type { Processes } from '../processes.js';
import { run } from '../run.js';

/** A tmpfs takes no memory for what is not written. */
const DISK_BYTES = 1024 * 1024 * 1024;

/** Words of `nats disk`: NATS is restarted on a disk of its own; that is full; it has room again. */
export const DISK_VERBS = ['own', 'full', 'room'] as const;
export type DiskVerb = (typeof DISK_VERBS)[number];
export const isDiskVerb = (word: string | undefined): word is DiskVerb => DISK_VERBS.some((v) => v === word);

const storeOf = (folder: LabFolder): string => folder.at('etc', 'store');
const aside = (folder: LabFolder): string => folder.at('etc', 'store.before');
const mark = (folder: LabFolder): string => folder.at('run', 'store-full');

const isOwn = (folder: LabFolder): boolean =>
  readFileSync('/proc/self/mounts', 'utf8').includes(` ${storeOf(folder)} `);

/** FORBIDDEN where nobody may mount. Nothing is written to fill it: its size becomes what it holds. */
export async function changeStoreDisk(
  folder: LabFolder,
  processes: Processes,
  plan: LabPlan,
  verb: DiskVerb,
): Promise<void> {
  if (plan.mode === 'loopback')
    throw new MusterError('FORBIDDEN', 'nats disk mounts a file system: it needs netns mode');
  if (plan.controls.length !== 1)
    throw new MusterError('FORBIDDEN', 'nats disk is about the one server of a lab with one control host');
  if (verb === 'own') return await ownDisk(folder, processes, plan);
  if (!isOwn(folder)) throw new MusterError('BAD_REQUEST', 'NATS has no disk of its own yet: nats disk own');
  if (verb === 'full') {
    const { blocks, bfree, bsize } = statfsSync(storeOf(folder));
    writeFileSync(mark(folder), '');
    return await resize(folder, (blocks - bfree) * bsize);
  }
  await resize(folder, DISK_BYTES);
}

const resize = async (folder: LabFolder, bytes: number): Promise<void> =>
  void (await run('mount', ['-o', `remount,size=${bytes}`, storeOf(folder)]));

async function ownDisk(folder: LabFolder, processes: Processes, plan: LabPlan): Promise<void> {
  if (isOwn(folder)) return;
  const store = storeOf(folder);
  await killNats(processes, plan);
  renameSync(store, aside(folder));
  mkdirSync(store);
  await run('mount', ['-t', 'tmpfs', '-o', `mode=700,size=${DISK_BYTES}`, 'tmpfs', store]);
  await run('cp', ['-a', `${aside(folder)}/.`, store]);
  await startNats(folder, processes, plan);
}

/** There is room again, and NATS is restarted, as its operator would: it does not write again by itself. */
export async function healStoreDisk(folder: LabFolder, processes: Processes, plan: LabPlan): Promise<string[]> {
  if (!existsSync(mark(folder)) || !isOwn(folder)) return [];
  await resize(folder, DISK_BYTES);
  if (processes.alive('nats') !== undefined) await killNats(processes, plan);
  await startNats(folder, processes, plan);
  rmSync(mark(folder));
  return ['the disk under NATS has room, NATS restarted'];
}

/** What was mounted for it; its last content is gone with it. */
export async function removeStoreDisk(folder: LabFolder): Promise<void> {
  if (isOwn(folder)) await run('umount', [storeOf(folder)]);
}

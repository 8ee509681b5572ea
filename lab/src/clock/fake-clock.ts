import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import type { LabFolder } from '../folder.js';
import { knownHosts, serviceProcesses, servicesNamed, type LabPlan } from '../plan.js';

/**
 * Wall clocks that jump while a process runs: it is started under libfaketime, which looks each second at a file of its
 * own for how far the clock is off. The monotonic clock and the times of files stay true. A program that asks the kernel
 * past the C library (nats-server) cannot be deceived.
 */
const RIGHT = '+0';

/** One that is right for each agent (by its host's name) and each service process. CONFIG_INVALID without libfaketime */
export function makeClocks(folder: LabFolder, plan: LabPlan): void {
  library();
  mkdirSync(folder.at('clock'));
  for (const name of [...knownHosts(plan).map((h) => h.name), ...serviceProcesses(plan)]) put(folder, name, RIGHT);
}

/** What a process is started with so that it goes by its own clock: nothing where the lab has none. */
export const clockEnvironment = (folder: LabFolder, name: string): Record<string, string> =>
  existsSync(file(folder, name))
    ? {
        LD_PRELOAD: library(),
        FAKETIME_TIMESTAMP_FILE: file(folder, name),
        FAKETIME_CACHE_DURATION: '1',
        // By both names that it has had.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
        NO_FAKE_STAT: '1',
      }
    : {};

/** Folder that hosts must see, too; undefined where the lab has no such clocks. */
export const clockFolder = (folder: LabFolder): string | undefined =>
  existsSync(folder.at('clock')) ? folder.at('clock') : undefined;

/** Clocks that are wrong, and by how much. */
export const wrongClocks = (folder: LabFolder): Record<string, string> =>
  Object.fromEntries(
    (clockFolder(folder) === undefined ? [] : readdirSync(folder.at('clock')))
      .map((name): [string, string] => [name, readFileSync(file(folder, name), 'utf8').trim()])
      .filter(([, offset]) => offset !== RIGHT),
  );

/** `host1`: of its agent; `detector`, `detector.1`. The process sees it within a second. FORBIDDEN, NODE_UNKNOWN, BAD_REQUEST */
export function setClock(folder: LabFolder, plan: LabPlan, name: string, offset: string): string[] {
  if (clockFolder(folder) === undefined)
    throw new MusterError('FORBIDDEN', 'clocks of this lab cannot be changed; start one with: lab up --faketime');
  const value = offsetOf(offset);
  const host = knownHosts(plan).find((h) => h.name === name || h.node === name);
  const names = host === undefined ? servicesNamed(plan, name) : [host.name];
  for (const n of names) put(folder, n, value);
  return names;
}

/** `+1h`, `-90s`, `0`, as libfaketime reads it. BAD_REQUEST */
export function offsetOf(text: string): string {
  if (/^[+-]?0$/.test(text)) return RIGHT;
  if (!/^[+-]\d{1,6}[smhd]$/.test(text))
    throw new MusterError('BAD_REQUEST', `"${text}": +1h, -90s, +2d or 0 is expected`);
  return text;
}

const file = (folder: LabFolder, name: string): string => folder.at('clock', name);

/** Never half written: it is read at any moment. */
function put(folder: LabFolder, name: string, offset: string): void {
  const aside = folder.at('run', `clock-${name}.new`);
  writeFileSync(aside, `${offset}\n`);
  renameSync(aside, file(folder, name));
}

function library(): string {
  const places = ['/usr/lib', '/usr/lib64', '/usr/local/lib'].flatMap((p) => [
    p,
    ...(existsSync(p) ? readdirSync(p).map((d) => `${p}/${d}`) : []),
  ]);
  const found = places.map((p) => `${p}/faketime/libfaketimeMT.so.1`).find((f) => existsSync(f));
  if (found === undefined) throw new MusterError('CONFIG_INVALID', 'missing: faketime; install it with: npm run setup');
  return found;
}

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '#contracts';
import { PROJECT, type LabFolder } from './folder.js';
import { knownHosts, NETWORKS, type HostPlan, type LabPlan } from './plan.js';
import { hostProgram, longHostProgram } from './python.js';
import { run } from './run.js';

export interface HostState {
  running: boolean;
  /** Its first process, as seen from the machine. */
  pid: number | null;
  boot: string | null;
  /** Networks whose cable is cut. */
  cut: string[];
}

const power = (folder: LabFolder, host: HostPlan, ...verb: string[]): Promise<string> =>
  hostProgram(folder, 'power', folder.host(host.name), ...verb);

export const bootHost = (folder: LabFolder, host: HostPlan): Promise<string> => power(folder, host, 'boot');

/** As by a crash of its kernel: it is silent at once, and its BMC still says `on`. Answers the moment of death. */
export const crashHost = async (folder: LabFolder, host: HostPlan): Promise<{ ns: number; at: number }> =>
  JSON.parse(await power(folder, host, 'crash')) as { ns: number; at: number };

/** In good order: every unit is stopped, the agent says that it leaves. */
export const shutDownHost = (folder: LabFolder, host: HostPlan, kind: 'poweroff' | 'reboot'): Promise<string> =>
  power(folder, host, 'shutdown', kind);

export const freezeHost = (folder: LabFolder, host: HostPlan, unit?: string): Promise<string> =>
  power(folder, host, 'freeze', ...(unit === undefined ? [] : [unit]));

export const thawHost = (folder: LabFolder, host: HostPlan, unit?: string): Promise<string> =>
  power(folder, host, 'thaw', ...(unit === undefined ? [] : [unit]));

/** Stands still for so many seconds. Answers for how many ms it did: a busy machine lets it go on later than asked for. */
export const dozeHost = async (
  folder: LabFolder,
  host: HostPlan,
  seconds: number,
  unit?: string,
): Promise<{ stoodMs: number }> =>
  JSON.parse(
    await longHostProgram(
      seconds * 1000,
      folder,
      'power',
      folder.host(host.name),
      'doze',
      String(seconds),
      ...(unit === undefined ? [] : [unit]),
    ),
  ) as { stoodMs: number };

export async function hostState(folder: LabFolder, host: HostPlan): Promise<HostState> {
  if (!existsSync(folder.host(host.name, 'host.json'))) return { running: false, pid: null, boot: null, cut: [] };
  return JSON.parse(await power(folder, host, 'state')) as HostState;
}

/** Networks to cut a host from, or all of its own. BAD_REQUEST for one that it does not have. */
export async function cutHost(folder: LabFolder, host: HostPlan, networks: readonly string[]): Promise<string[]> {
  const own = NETWORKS.filter((n) => n !== 'oob') as readonly string[];
  const wrong = networks.find((n) => !own.includes(n));
  if (wrong !== undefined)
    throw new MusterError('BAD_REQUEST', `${host.name} has no network "${wrong}"; it has ${own.join(', ')}`);
  const cut = [...new Set([...cutsOf(folder, host), ...(networks.length > 0 ? networks : own)])];
  writeFileSync(folder.host(host.name, 'cuts.json'), JSON.stringify(cut));
  await power(folder, host, 'links');
  return cut;
}

/** All cables of the host are whole again. */
export async function joinHost(folder: LabFolder, host: HostPlan): Promise<void> {
  writeFileSync(folder.host(host.name, 'cuts.json'), '[]');
  await power(folder, host, 'links');
}

const cutsOf = (folder: LabFolder, host: HostPlan): string[] => {
  const file = folder.host(host.name, 'cuts.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as string[]) : [];
};

/** lab/host goes into the lab's folder: hosts and BMC hooks of a running lab are not changed by edits. */
export function copyHostPrograms(folder: LabFolder): void {
  const from = join(PROJECT, 'lab/host');
  for (const file of readdirSync(from))
    if (/\.(py|pl)$/.test(file)) copyFileSync(join(from, file), folder.at('lib', file));
}

/** The lab's ssh key (or the one that is given, of which the public half is enough), a key for each host, and the known_hosts that Ansible checks them by. */
export async function makeSshKeys(folder: LabFolder, plan: LabPlan, given?: string): Promise<void> {
  const key = (file: string, comment: string): Promise<string> =>
    run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', folder.at('ssh', file)]);
  if (given === undefined) await key('id_ed25519', `muster-lab-${plan.id}`);
  else
    for (const end of ['.pub', ...(existsSync(given) ? [''] : [])])
      copyFileSync(`${given}${end}`, folder.at('ssh', `id_ed25519${end}`));
  await Promise.all(plan.hosts.map((h) => key(`${h.name}.key`, h.name)));
  const lines = knownHosts(plan).map((h) => {
    const address = h.networks.management;
    const [kind, body] = readFileSync(folder.at('ssh', `${h.name}.key.pub`), 'utf8').split(' ');
    return `${h.sshPort === 22 ? address : `[${address}]:${h.sshPort}`} ${kind} ${body}`;
  });
  writeFileSync(folder.at('ssh', 'known_hosts'), `${lines.join('\n')}\n`);
}

/**
 * Can hosts keep their changes in an overlay whose upper layer is in the lab's folder? Not where the folder is itself on
 * an overlay (most containers): then they are kept in a tmpfs, mounted at `layers` in the folder until `down`.
 */
export async function prepareLayers(folder: LabFolder): Promise<{ tmpfs: boolean }> {
  const probe = folder.at('run', 'overlay');
  for (const d of ['upper', 'work', 'merged']) mkdirSync(join(probe, d), { recursive: true });
  const options = `lowerdir=/,upperdir=${probe}/upper,workdir=${probe}/work`;
  const fits = await run('unshare', [
    '--mount',
    'mount',
    '-t',
    'overlay',
    'overlay',
    '-o',
    options,
    `${probe}/merged`,
  ]).then(
    () => true,
    (e: unknown) => {
      if (e instanceof MusterError && e.code === 'COMMAND_FAILED') return false;
      throw e;
    },
  );
  if (fits) return { tmpfs: false };
  mkdirSync(folder.at('layers'));
  await run('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', folder.at('layers')]);
  return { tmpfs: true };
}

import { execa } from 'execa';
import { MusterError } from '#contracts';
import type { LabFolder } from './folder.js';
import { inNamespaceOf } from './controls/on-control.js';
import { hostState } from './hosts.js';
import type { ControlPlan, HostPlan, LabMode } from './plan.js';

export interface ExecAnswer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in a host, as its root. `capture`: collects the output; otherwise it goes to this terminal. */
export async function execInHost(
  folder: LabFolder,
  mode: LabMode,
  host: HostPlan,
  argv: readonly string[],
  capture: boolean,
): Promise<ExecAnswer> {
  const { pid } = await hostState(folder, host);
  if (pid === null)
    throw new MusterError('NOT_FOUND', `${host.name} is not running; boot it with: lab boot ${host.name}`);
  const root = folder.host(host.name, 'root');
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const env: Record<string, string> =
    mode === 'netns'
      ? { PATH: path, HOME: '/root', LANG: 'C.UTF-8' }
      : {
          PATH: `${root}/usr/local/bin:${path}`,
          HOME: `${root}/home`,
          LANG: 'C.UTF-8',
          MUSTER_ROOT: root,
          MUSTER_LAB_HOST: folder.host(host.name),
        };
  if (process.env['TERM'] !== undefined) env['TERM'] = process.env['TERM'];
  const enter = mode === 'netns' ? ['nsenter', '-t', String(pid), '-m', '-u', '-i', '-n', '-p', '--'] : [];
  return await done([...enter, ...argv], { ...env, MUSTER_LAB_DIR: folder.path }, capture);
}

/** The same on a control host, as its root: it has this machine's files and its own networks, by which NATS is reached. */
export const execOnControl = (
  folder: LabFolder,
  control: ControlPlan,
  argv: readonly string[],
  capture: boolean,
): Promise<ExecAnswer> => done(inNamespaceOf(control, argv), { ...process.env, MUSTER_LAB_DIR: folder.path }, capture);

async function done(argv: readonly string[], env: NodeJS.ProcessEnv, capture: boolean): Promise<ExecAnswer> {
  const [command, ...args] = argv;
  const ended = await execa(command!, args, {
    env,
    extendEnv: false,
    stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    stripFinalNewline: false,
    reject: false,
  });
  // It has neither where it could not be started.
  if (ended.exitCode === undefined && ended.signal === undefined)
    throw new MusterError('COMMAND_FAILED', `${command}: ${ended.originalMessage}`, {}, { cause: ended });
  return { exitCode: ended.exitCode ?? 1, stdout: ended.stdout ?? '', stderr: ended.stderr ?? '' };
}

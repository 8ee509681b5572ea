import { spawn } from 'node:child_process';
import { MusterError } from '#contracts';
import type { LabFolder } from './folder.js';
import { hostState } from './hosts.js';
import type { HostPlan, LabMode } from './plan.js';

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
  const [command, ...args] = [...enter, ...argv];
  const child = spawn(command!, args, {
    env: { ...env, MUSTER_LAB_DIR: folder.path },
    stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (d: string) => (stdout += d));
  child.stderr?.setEncoding('utf8').on('data', (d: string) => (stderr += d));
  return await new Promise((resolve, reject) => {
    child.on('error', (cause) =>
      reject(new MusterError('COMMAND_FAILED', `${command}: ${cause.message}`, {}, { cause })),
    );
    child.on('close', (code) => resolve({ exitCode: code ?? 1, stdout, stderr }));
  });
}

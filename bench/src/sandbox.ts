import { mkdirSync } from 'node:fs';
import { daemon } from '#bus/testing/daemon.js';
import { MusterError } from '#contracts';
import { run } from '../../lab/src/run.js';

const INSIDE = 'MUSTER_BENCH_INSIDE';

export const isInside = (): boolean => process.env[INSIDE] !== undefined;

/**
 * Runs this very program again, as the first process of namespaces of its own (network, mounts, processes), and answers
 * its exit code. Whatever it makes there, processes, bridges, hosts, ends with it, however it ends: nothing is left over.
 * Without root it is root of a user namespace, where the system allows that.
 */
export async function runInside(): Promise<number> {
  const spaces = ['--net', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const child = daemon('unshare', [...asRoot, ...spaces, process.execPath, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  });
  const end = (): boolean => child.kill('SIGKILL');
  process.once('SIGINT', end).once('SIGTERM', end);
  const ended = await child;
  if (child.pid === undefined) throw new MusterError('COMMAND_FAILED', `unshare: ${ended.originalMessage}`);
  return ended.exitCode ?? 1;
}

/** Names of network namespaces are kept in /run, which is the machine's: here it is our own. */
export async function furnish(): Promise<void> {
  await run('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
  mkdirSync('/run/netns');
  await run('ip', ['link', 'set', 'lo', 'up']);
}

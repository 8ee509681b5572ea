import { execa } from 'execa';
import { pingArgs, type RunPing } from '#probe/ping-sign.js';

/** The system's own. */
export const systemPing: RunPing = async (host, seconds, limit) => {
  const done = await execa('ping', pingArgs(host, seconds), {
    reject: false,
    stdin: 'ignore',
    timeout: limit,
    killSignal: 'SIGKILL',
    env: { LC_ALL: 'C' },
  });
  return { code: done.exitCode, said: done.timedOut ? '' : done.stderr || (done.code ?? '') };
};

import { execFile } from 'node:child_process';
import { MusterError } from '#contracts';

export interface RunOptions {
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** @default 30000 */
  timeoutMs?: number;
}

/** Runs a command to its end and answers its stdout. COMMAND_FAILED carries the command and its last words. */
export function run(command: string, args: readonly string[], o: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      { timeout: o.timeoutMs ?? 30_000, maxBuffer: 64 * 1024 * 1024, ...(o.env && { env: o.env }) },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const said = (stderr.trim() || stdout.trim()).split('\n').at(-1) ?? '';
        const why = error.killed ? `no end after ${(o.timeoutMs ?? 30_000) / 1000} s` : said || error.message;
        reject(new MusterError('COMMAND_FAILED', `${command} ${args.join(' ')}: ${why}`, {}, { cause: error }));
      },
    );
    // A command that ends without reading its input says by its exit what that means.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(o.input ?? '');
  });
}

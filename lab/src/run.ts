import { execa } from 'execa';
import { MusterError } from '#contracts';

export interface RunOptions {
  input?: string;
  /** Its whole environment. @default that of this process */
  env?: NodeJS.ProcessEnv;
  /** @default 30000 */
  timeoutMs?: number;
}

/** Runs a command to its end and answers its stdout. COMMAND_FAILED carries the command, its code and its last words. */
export async function run(command: string, args: readonly string[], o: RunOptions = {}): Promise<string> {
  const timeoutMs = o.timeoutMs ?? 30_000;
  const child = execa(command, args, {
    input: o.input ?? '',
    timeout: timeoutMs,
    reject: false,
    stripFinalNewline: false,
    extendEnv: false,
    ...(o.env && { env: o.env }),
  });
  // What a killed command has started may hold its pipes: a time limit would last as long as that.
  child.once('exit', (_code, signal) => {
    if (signal === null) return;
    child.stdout.destroy();
    child.stderr.destroy();
  });
  const done = await child;
  if (!done.failed) return done.stdout;
  const lastWords = (done.stderr.trim() || done.stdout.trim()).split('\n').at(-1) ?? '';
  const how = done.exitCode === undefined ? (done.signal ?? done.originalMessage) : `exit ${done.exitCode}`;
  const why = done.timedOut ? `no end after ${timeoutMs / 1000} s` : [how, lastWords].filter(Boolean).join(': ');
  throw new MusterError('COMMAND_FAILED', `${command} ${args.join(' ')}: ${why}`, {}, { cause: done });
}

import { join } from 'node:path';
import { execa } from 'execa';
import { MusterError } from '#contracts';

export interface LabAt {
  dir: string;
  /** Hears each line of progress that the lab prints. */
  onProgress?: (line: string) => void;
}

export const CLI = join(import.meta.dirname, '..', 'main.js');

/** Runs the lab's own command line and answers its JSON. COMMAND_FAILED carries its last words. */
export async function runLab(options: LabAt, args: string[]): Promise<unknown> {
  const child = execa(process.execPath, [CLI, '--dir', options.dir, '--json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    reject: false,
    // A Ctrl-C reaches `lab up` too, which then takes down what it has made: a SIGTERM on top would do that twice.
    cleanup: false,
  });
  let lastWords = '';
  for await (const line of child.iterable({ from: 'stderr' })) {
    if (line.trim() === '') continue;
    lastWords = line;
    options.onProgress?.(line);
  }
  const { exitCode, stdout, shortMessage } = await child;
  return answerOf(args, { code: exitCode, out: stdout, lastWords: lastWords || (shortMessage ?? '') });
}

/** What a command has left. */
interface Ended {
  /** Undefined: it was killed, or never began. */
  code: number | undefined;
  out: string;
  lastWords: string;
}

/** Its answer. COMMAND_FAILED carries its last words. */
export function answerOf(args: readonly string[], { code, out, lastWords }: Ended): unknown {
  const answer = out.trim().split('\n').at(-1) ?? '';
  // An audit that has found something says so by its exit code, and its findings are the answer.
  if (code !== 0 && !(args[0] === 'audit' && code !== undefined))
    throw new MusterError('COMMAND_FAILED', `lab ${args.join(' ')}: ${lastWords || answer}`);
  return answer === '' ? {} : (JSON.parse(answer) as unknown);
}

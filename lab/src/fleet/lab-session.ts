import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { MusterError } from '#contracts';
import type { LabRequest, LabWord } from '../commands/serve.js';
import { answerOf, CLI, type LabAt } from './lab-command.js';

interface UnderWay {
  args: readonly string[];
  lastWords: string;
  settle: { resolve: (answer: unknown) => void; reject: (reason: unknown) => void };
}

/** One process of the lab that runs many commands: it is as if each were called by itself, without its half second. */
export class LabSession {
  private readonly child;
  private readonly underWay = new Map<number, UnderWay>();
  private asked = 0;
  private ended: string | undefined;

  constructor(
    private readonly options: LabAt,
    program = CLI,
  ) {
    // It ends with its stdin, so also with this process.
    this.child = execa(process.execPath, [program, 'serve'], {
      stdin: 'pipe',
      reject: false,
      cleanup: false,
      buffer: false,
    });
    createInterface({ input: this.child.stdout }).on('line', (text) => this.hear(JSON.parse(text) as LabWord));
    createInterface({ input: this.child.stderr }).on('line', (line) => options.onProgress?.(line));
    void this.child.then((done) => {
      this.ended = done.shortMessage ?? `exit ${done.exitCode}`;
      for (const { args, settle } of this.underWay.values()) settle.reject(this.hasEnded(args));
      this.underWay.clear();
    });
  }

  /** The answer of one command. COMMAND_FAILED carries its last words. */
  run(args: readonly string[]): Promise<unknown> {
    if (this.ended !== undefined) return Promise.reject(this.hasEnded(args));
    const id = ++this.asked;
    const request: LabRequest = { id, args: ['--dir', this.options.dir, '--json', ...args] };
    return new Promise((resolve, reject) => {
      this.underWay.set(id, { args, lastWords: '', settle: { resolve, reject } });
      this.child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }

  /** It ends when what is under way has. */
  close(): void {
    this.child.stdin.end();
  }

  private hasEnded(args: readonly string[]): MusterError {
    return new MusterError('COMMAND_FAILED', `lab ${args.join(' ')}: the lab's session has ended: ${this.ended}`);
  }

  private hear(word: LabWord): void {
    const asked = this.underWay.get(word.id);
    if (asked === undefined) return;
    if ('line' in word) {
      asked.lastWords = word.line;
      this.options.onProgress?.(word.line);
      return;
    }
    this.underWay.delete(word.id);
    try {
      asked.settle.resolve(answerOf(asked.args, { ...word, lastWords: asked.lastWords }));
    } catch (e) {
      asked.settle.reject(e);
    }
  }
}

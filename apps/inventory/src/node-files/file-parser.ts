import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { MusterError, type Clock, type NodeImportRequest } from '#contracts';
import type { FileContent } from './file-row.js';
import type { ParseThreadMessage } from './parse-thread.js';

/** The largest file that people write takes a good second on a slow machine. */
const LIMIT_MS = 8_000;
/** For the thread to begin at all, ms: the machine may be busy. */
const START_LIMIT_MS = 30_000;
/** Of the thread's heap, MiB. */
const MOST_MEMORY = 256;
/** Read and waiting, at most: whoever sends one more would not be answered before the gateway gives up. */
const MOST_AT_ONCE = 2;

/** From dist; where the sources are run themselves (specs), the built thread is used: Node cannot start a .ts file. */
function threadFile(): string {
  const beside = fileURLToPath(new URL('./parse-thread.js', import.meta.url));
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../../../dist/apps/inventory/src/node-files/parse-thread.js', import.meta.url));
}

/**
 * Reads files outside the loop, one at a time: a file of a few hundred kilobytes can keep a parser busy for minutes, and
 * meanwhile every lease of the process would end.
 */
export class FileParser {
  private last: Promise<unknown> = Promise.resolve();
  private atOnce = 0;

  constructor(private readonly clock: Pick<Clock, 'after'>) {}

  /** @throws MusterError BAD_REQUEST where it takes too long or too much; TOO_MANY_TRIES where others are being read */
  async read(format: NodeImportRequest['format'], content: string): Promise<FileContent> {
    if (this.atOnce >= MOST_AT_ONCE)
      throw new MusterError('TOO_MANY_TRIES', 'other files are being read, try again in a few seconds', {
        retryAfter: LIMIT_MS / 1000,
      });
    this.atOnce += 1;
    const turn = this.last.then(() => this.parse(format, content));
    this.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.atOnce -= 1;
    }
  }

  private parse(format: NodeImportRequest['format'], content: string): Promise<FileContent> {
    const thread = new Worker(threadFile(), {
      workerData: { format, content },
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY },
    });
    const end = (): void => void thread.terminate();
    let timer = this.clock.after(START_LIMIT_MS, end);
    return new Promise<FileContent>((resolve, reject) => {
      thread.on('message', (said: ParseThreadMessage) => {
        timer.cancel();
        if (said.content) resolve(said.content);
        else timer = this.clock.after(LIMIT_MS, end);
      });
      thread.once('error', (cause) => reject(tooMuch({ cause })));
      // After an answer this changes nothing.
      thread.once('exit', () => reject(tooMuch()));
    }).finally(() => timer.cancel());
  }
}

const tooMuch = (o?: { cause: unknown }): MusterError =>
  new MusterError(
    'BAD_REQUEST',
    `the file cannot be read within ${LIMIT_MS / 1000} s and ${MOST_MEMORY} MB: split it`,
    {},
    o,
  );

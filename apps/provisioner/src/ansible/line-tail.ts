import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { MusterError, type Clock, type Timer } from '#contracts';

/** Between two reads of what was appended, ms. */
const LOOK_MS = 500;

/** Hands on the lines of a file while it is written. What comes after the last read is for who reads the whole. */
export class LineTail {
  private file: FileHandle | undefined;
  private rest = '';
  private looking: Promise<void> | undefined;
  private failure: unknown;
  private readonly timer: Timer;
  private readonly decoder = new TextDecoder();

  constructor(
    clock: Clock,
    private readonly path: string,
    private readonly onLines: (lines: string[]) => void,
  ) {
    this.timer = clock.every(LOOK_MS, () => {
      this.looking ??= this.readMore()
        .catch((error: unknown) => {
          this.timer.cancel();
          this.failure = error;
        })
        .finally(() => (this.looking = undefined));
    });
  }

  /** @throws what kept it from reading */
  async close(): Promise<void> {
    this.timer.cancel();
    await this.looking;
    await this.file?.close();
    if (this.failure !== undefined) throw MusterError.from(this.failure);
  }

  private async readMore(): Promise<void> {
    this.file ??= await open(this.path);
    const chunk = Buffer.alloc(256 * 1024);
    for (;;) {
      const { bytesRead } = await this.file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return;
      const lines = (this.rest + this.decoder.decode(chunk.subarray(0, bytesRead), { stream: true })).split('\n');
      this.rest = lines.pop() ?? '';
      if (lines.length > 0) this.onLines(lines);
    }
  }
}

/** All lines of a file. */
export async function linesOf(path: string): Promise<string[]> {
  const lines: string[] = [];
  const reader = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  for await (const line of reader) lines.push(line);
  return lines;
}

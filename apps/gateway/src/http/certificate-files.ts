import { watch, type FSWatcher } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, MusterError, type Timer } from '#contracts';
import { type CertificatePair, judgePair } from './certificate-pair.js';

/** ms. */
export const CertificateFileNumbers = {
  /** After the last change in a folder: who renews writes two files, one after the other. */
  settle: 200,
  /** Between two checks of the files themselves: not every file system says what changes in it. */
  checkEvery: 10_000,
} as const;

/** The API's certificate and key on disk, followed as they change. A pair that cannot be shown changes nothing. */
export class CertificateFiles {
  private readonly watchers: FSWatcher[] = [];
  private readonly timer: Timer;
  private settling: Timer | undefined;
  private looking: Promise<void> | undefined;
  private isAskedAgain = false;
  /** Why the pair on disk cannot be shown; absent: it is shown. */
  private why: string | undefined;
  /** What was said of that last; `nothing` was. */
  private judged: { why: string | undefined } | 'nothing' = 'nothing';

  private constructor(
    private readonly files: CertificatePair,
    private readonly o: CertificateFilesOptions,
    /** The files as they were when they were read last. */
    private seen: string,
    private endsAt: number,
  ) {
    for (const folder of new Set([files.certificate, files.key].map((file) => dirname(file)))) this.follow(folder);
    this.timer = o.clock.every(CertificateFileNumbers.checkEvery, () => this.check(), { background: true });
    this.check();
  }

  /**
   * Reads the pair that a gateway starts with, and follows its files from then on.
   * @param files paths
   * @throws MusterError CONFIG_INVALID
   */
  static async open(
    files: CertificatePair,
    o: CertificateFilesOptions,
  ): Promise<{ pair: CertificatePair; files: CertificateFiles }> {
    const seen = await stateOf(files);
    const read = await readPair(files);
    if ('why' in read) throw new MusterError('CONFIG_INVALID', `http.tls: ${read.why}`);
    const { pair, names, endsAt } = read;
    const facts = { names, until: new Date(endsAt).toISOString() };
    if (endsAt <= o.clock.wallMs())
      o.log.warn({ code: 'CONFIG_INVALID', ...facts }, 'http.tls: the certificate has ended');
    return { pair, files: new CertificateFiles(files, o, seen, endsAt) };
  }

  async close(): Promise<void> {
    this.timer.cancel();
    this.settling?.cancel();
    this.isAskedAgain = false;
    for (const watcher of this.watchers) watcher.close();
    await this.looking;
  }

  /** The folder, not the file: what is renamed over a file is another one. */
  private follow(folder: string): void {
    const onFailed = (e: unknown): void =>
      this.o.log.warn(
        { folder, reason: (e as Error).message, seconds: CertificateFileNumbers.checkEvery / 1000 },
        'http.tls: the folder cannot be watched; the files are looked at from time to time',
      );
    try {
      const watcher = watch(folder, { persistent: false }, () => this.settle());
      this.watchers.push(watcher.on('error', onFailed));
    } catch (e) {
      onFailed(e);
    }
  }

  private settle(): void {
    this.settling?.cancel();
    this.settling = this.o.clock.after(CertificateFileNumbers.settle, () => this.check(), { background: true });
  }

  private check(): void {
    if (this.looking !== undefined) {
      this.isAskedAgain = true;
      return;
    }
    const both = async (): Promise<void> => {
      await this.readWhereChanged();
      await this.sayWhereChanged();
    };
    this.looking = both().finally(() => {
      this.looking = undefined;
      if (!this.isAskedAgain) return;
      this.isAskedAgain = false;
      this.check();
    });
  }

  private async readWhereChanged(): Promise<void> {
    const state = await stateOf(this.files);
    if (state === this.seen) return;
    // Before the reading: what is written meanwhile is another state, and is read again.
    this.seen = state;
    this.o.log.debug(this.files, 'http.tls: the files are read');
    const read = await readPair(this.files);
    const why = 'why' in read ? read.why : this.worse(read.endsAt);
    this.why = why;
    if ('why' in read || why !== undefined) {
      this.o.log.warn(
        { code: 'CONFIG_INVALID', reason: why },
        'http.tls: the certificate on disk is not taken; the one in use stays',
      );
      return;
    }
    this.endsAt = read.endsAt;
    this.o.onChange(read.pair);
    this.o.log.info(
      { names: read.names, until: new Date(read.endsAt).toISOString() },
      'http.tls: another certificate is shown',
    );
  }

  /** Whom it is said to may be away: then with the next look. */
  private async sayWhereChanged(): Promise<void> {
    const { why } = this;
    if (this.judged !== 'nothing' && this.judged.why === why) return;
    try {
      await this.o.onJudged(why);
      this.judged = { why };
    } catch (e) {
      const { code, message: reason } = MusterError.from(e);
      this.o.log.debug({ code, reason }, 'http.tls: whether the files can be shown was told to nobody');
    }
  }

  private worse(endsAt: number): string | undefined {
    const now = this.o.clock.wallMs();
    return endsAt <= now && this.endsAt > now ? 'it has ended already' : undefined;
  }
}

export interface CertificateFilesOptions {
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  clock: Clock;
  /** What is to be shown from now on. */
  onChange: (pair: CertificatePair) => void;
  /** At the start, and when it changes: why the pair on disk cannot be shown, or that it can. Called again where it rejects. */
  onJudged: (why: string | undefined) => Promise<void>;
}

type Read = { why: string } | { pair: CertificatePair; names: string[]; endsAt: number };

async function readPair(files: CertificatePair): Promise<Read> {
  let pair: CertificatePair;
  try {
    const [certificate, key] = await Promise.all([files.certificate, files.key].map((file) => readFile(file, 'utf8')));
    pair = { certificate: certificate!, key: key! };
  } catch (e) {
    return { why: `it cannot be read: ${(e as Error).message}` };
  }
  const judged = judgePair(pair);
  return judged.ok
    ? { pair, names: judged.names, endsAt: judged.endsAt }
    : { why: `${judged.why} (${files.certificate}, ${files.key})` };
}

/** Changes whenever one of the files is written, or is another file than before. */
async function stateOf(files: CertificatePair): Promise<string> {
  const one = async (file: string): Promise<string> => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    } catch (e) {
      return (e as NodeJS.ErrnoException).code ?? 'unknown';
    }
  };
  return (await Promise.all([files.certificate, files.key].map(one))).join(', ');
}

import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamConfig, StreamState } from '@nats-io/jetstream';
import { MusterError } from '#contracts';
import { writePrivately } from '../init/private-files.js';

/** What a server says of a stream that it hands out, and is told of one that it takes. */
export interface SavedStream {
  config: StreamConfig;
  state: StreamState;
  /** When it was made: ISO, by that server's clock. */
  created: string;
}

/** A folder that a store was saved into: of each stream what it was, and its content as the server packs it. */
export class SavedStore {
  private constructor(readonly folder: string) {}

  /** A new one, which is whole once {@link finish} has been called. @throws MusterError CONFIG_INVALID: the folder is not empty */
  static create(folder: string): SavedStore {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length > 0)
      throw new MusterError('CONFIG_INVALID', `${folder} is not empty: name a new folder`);
    return new SavedStore(folder);
  }

  /** @throws MusterError CONFIG_INVALID: it is none, or was never finished */
  static open(folder: string): SavedStore {
    const saved = new SavedStore(folder);
    if (!existsSync(saved.list))
      throw new MusterError('CONFIG_INVALID', `${folder} holds no store that "muster store save" has finished`);
    return saved;
  }

  get streams(): Map<string, SavedStream> {
    return new Map(Object.entries(JSON.parse(readFileSync(this.list, 'utf8')) as Record<string, SavedStream>));
  }

  /** When the last message of it was written, ms of that server's clock: the copy was made then, or later. */
  get lastWrite(): number {
    return Math.max(0, ...[...this.streams.values()].map(({ state }) => Date.parse(state.last_ts)));
  }

  /** Each piece is on the disk before the next is asked for. */
  async writeContent(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await open(this.content(name), 'wx', 0o600);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** @param bytes of one piece, at most */
  readContent(name: string, bytes: number): AsyncIterable<Uint8Array> {
    return createReadStream(this.content(name), { highWaterMark: bytes });
  }

  finish(streams: ReadonlyMap<string, SavedStream>): void {
    writePrivately(this.list, `${JSON.stringify(Object.fromEntries(streams), undefined, 2)}\n`);
  }

  private get list(): string {
    return join(this.folder, 'streams.json');
  }

  private content(name: string): string {
    return join(this.folder, `${name}.stream`);
  }
}

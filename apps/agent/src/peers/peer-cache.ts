import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PeerList } from '#contracts/peers.js';
import { reasonOf } from '../log.js';
import { writeDurably } from './durable-file.js';
import { parsePeerList } from './parse-peer-list.js';

/**
 * The peer list on disk, twice: the newest, and the one before it, or the same where there was none. With them an agent
 * starts in a cluster whose control plane is down. Where the newest is broken the other one is used, and it is told.
 */
export class PeerCache {
  private readonly file: string;
  private readonly before: string;

  constructor(
    stateDir: string,
    private readonly self: { node: string; cluster: string },
  ) {
    this.file = join(stateDir, 'peers.json');
    this.before = join(stateDir, 'peers.last.json');
  }

  /** `warning`: something that was there could not be used. */
  async load(): Promise<{ list?: PeerList; warning?: string }> {
    const newest = await this.read(this.file);
    if (newest.list) return { list: newest.list };
    const older = await this.read(this.before);
    const complaints = [newest.wrong, older.wrong].filter((w) => w !== undefined);
    return {
      ...(older.list && { list: older.list }),
      ...(complaints.length > 0 && { warning: complaints.join('; ') }),
    };
  }

  async save(list: PeerList): Promise<void> {
    // Only a good list may become the copy: a broken one would push the last good one out.
    const was = (await this.read(this.file)).list ?? (await this.read(this.before)).list ?? list;
    await this.write(this.before, was);
    await this.write(this.file, list);
  }

  private write(file: string, list: PeerList): Promise<void> {
    return writeDurably(file, `${JSON.stringify(list)}\n`);
  }

  private async read(file: string): Promise<{ list?: PeerList; wrong?: string }> {
    try {
      return { list: parsePeerList(await readFile(file, 'utf8'), this.self) };
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === 'ENOENT') return {};
      return { wrong: `${file} ${reasonOf(e)}` };
    }
  }
}

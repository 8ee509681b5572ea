import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PeerList } from '#contracts/wire/peers.js';
import { reasonOf } from '../log/agent-log.js';
import { writeDurably } from './durable-file.js';
import { parsePeerList } from './parse-peer-list.js';

/**
 * The peer list on disk, twice. With it an agent starts in a cluster whose control plane is down. Where one of the two is
 * broken the other one is used, and it is told.
 */
export class PeerCache {
  private readonly file: string;
  private readonly copy: string;

  constructor(
    stateDir: string,
    private readonly self: { node: string; cluster: string },
  ) {
    this.file = join(stateDir, 'peers.json');
    this.copy = join(stateDir, 'peers.last.json');
  }

  /** `warning`: something that was there could not be used. */
  async load(): Promise<{ list?: PeerList; warning?: string }> {
    const first = await this.read(this.file);
    if (first.list) return { list: first.list };
    const second = await this.read(this.copy);
    const complaints = [first.wrong, second.wrong].filter((w) => w !== undefined);
    return {
      ...(second.list && { list: second.list }),
      ...(complaints.length > 0 && { warning: complaints.join('; ') }),
    };
  }

  /** One after the other: where the disk fails, the second is still the last good one. */
  async save(list: PeerList): Promise<void> {
    for (const file of [this.file, this.copy]) await writeDurably(file, `${JSON.stringify(list)}\n`);
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

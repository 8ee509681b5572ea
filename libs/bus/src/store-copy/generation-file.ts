import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '#contracts';
import { writePrivately } from '../init/private-files.js';

/** In the folder of `muster init`: the generation of the last store that was loaded from there, which a copy may be older than. */
export class GenerationFile {
  private readonly path: string;

  constructor(dir: string) {
    this.path = join(dir, 'store-generation');
  }

  /** 0: none was ever loaded. @throws MusterError CONFIG_INVALID: what is there is no generation */
  read(): number {
    if (!existsSync(this.path)) return 0;
    const text = readFileSync(this.path, 'utf8').trim();
    if (!/^\d{1,15}$/.test(text))
      throw new MusterError(
        'CONFIG_INVALID',
        `${this.path} holds no number: delete it, and see that the clock of this machine is right`,
      );
    return Number(text);
  }

  write(generation: number): void {
    writePrivately(this.path, `${generation}\n`);
  }
}

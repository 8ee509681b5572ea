import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '#contracts';
import { historyOf, parseBeat, type Beat } from '../../../lab/src/audit/ledger.js';
import { until } from '../../../lab/src/until.js';
import { firstBeatElsewhere } from './traces.js';

/** Looks at sizes only: reading the whole ledger each time would take the processor from what is measured. */
const LOOK_MS = 50;

/** What the workload itself wrote about where it runs: the same file, by the same program, whoever started it. */
export class Ledger {
  constructor(
    private readonly dir: string,
    private readonly workload: string,
  ) {}

  /** The host that runs it. NOT_FOUND where none has within the last second. */
  carrier(): string {
    const last = this.beats(this.files()).toSorted((a, b) => b.ns - a.ns)[0];
    const now = Number(process.hrtime.bigint());
    if (last === undefined || now - last.ns > 1e9)
      throw new MusterError('NOT_FOUND', `${this.workload} runs nowhere; its last beat was on ${last?.host ?? 'none'}`);
    return last.host;
  }

  /**
   * Call it before the death. What it answers resolves at the first beat on another host after the death.
   * TIMEOUT
   */
  awaitElsewhere(victim: string): (deathNs: number, limitMs: number) => Promise<Beat> {
    const before = new Map(this.files().map((file) => [file, this.size(file)]));
    return (deathNs, limitMs) =>
      until(
        `${this.workload} to run elsewhere than on ${victim}`,
        limitMs,
        () => {
          const grown = this.files().filter((file) => this.size(file) > (before.get(file) ?? 0));
          return firstBeatElsewhere(this.beats(grown.filter((file) => !this.isOf(file, victim))), victim, deathNs);
        },
        LOOK_MS,
      );
  }

  /** Longest time, ms, that two hosts both ran it. */
  overlapMs(): number {
    return historyOf(this.beats(this.files()))[0]?.longestOverlapMs ?? 0;
  }

  private files(): string[] {
    return readdirSync(this.dir).filter((file) => file.startsWith(`${this.workload}@`));
  }
  private size(file: string): number {
    return statSync(join(this.dir, file)).size;
  }
  private isOf(file: string, host: string): boolean {
    return file.startsWith(`${this.workload}@${host}@`);
  }
  private beats(files: readonly string[]): Beat[] {
    return files.flatMap((file) =>
      readFileSync(join(this.dir, file), 'utf8')
        .split('\n')
        .flatMap((line) => parseBeat(line) ?? []),
    );
  }
}

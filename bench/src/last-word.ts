import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { BenchResult, FailedPart } from './metric.js';

type Ending = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const ENDINGS: readonly Ending[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Of a process: `exit` comes last, with its exit code. */
interface Host extends EventEmitter {
  exit(code?: number): never;
  exitCode?: number | string | null | undefined;
}

/**
 * A bench ends with a result, whatever ends it: a signal, or an event loop that has nothing left to wait for, which ends a
 * process without a word and with exit code 0.
 *
 * The first process of a namespace is ended by no signal that it does not ask for: here it asks.
 */
export class LastWord {
  private over = false;
  private why = 'the bench came to an end before its last part did: nothing was left that it could wait for';

  /** @param print has written when it returns: nothing comes after it */
  constructor(
    private readonly failed: readonly FailedPart[],
    private readonly begun: Pick<BenchResult, 'bench' | 'machine'>,
    private readonly print: (result: BenchResult) => void,
    private readonly host: Host = process,
  ) {
    for (const signal of ENDINGS) host.once(signal, () => this.endBy(signal));
    host.once('exit', () => this.exit());
  }

  /** The result is printed by who calls this. */
  isPrinted(): void {
    this.over = true;
  }

  private endBy(signal: Ending): void {
    this.why = `ended by ${signal}`;
    this.host.exit(128 + constants.signals[signal]);
  }

  private exit(): void {
    if (this.over) return;
    this.over = true;
    const failed = [...this.failed, { part: this.begun.bench, why: this.why }];
    this.print({ ...this.begun, metrics: [], failed });
    this.host.exitCode ||= 1;
  }
}

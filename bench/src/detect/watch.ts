import { performance } from 'node:perf_hooks';
import { MusterError, Subjects, type Report, type Verdict, type VerdictKind } from '#contracts';
import type { Bus } from '#bus';

export interface Seen extends Verdict {
  /** When it came over NATS, monotonic ms. */
  seenAt: number;
}

/** What the monitor says and what the agents report, as any program of an operator hears it over NATS. */
export class Watch {
  /** All of them, oldest first. */
  readonly verdicts: Seen[] = [];
  private readonly last = new Map<string, Seen>();
  private readonly reports = new Map<string, Report>();
  private readonly waiting = new Set<() => void>();

  /** @param bus `inventory`: to hear the reports, too */
  constructor(bus: { tools: Bus; inventory?: Bus }) {
    bus.tools.subscribe(Subjects.verdict('*'), (text) => {
      const seen: Seen = { ...(JSON.parse(text) as Verdict), seenAt: performance.now() };
      this.verdicts.push(seen);
      this.last.set(seen.node, seen);
      this.check();
    });
    bus.inventory?.subscribe(Subjects.report('*'), (text) => {
      const report = JSON.parse(text) as Report;
      this.reports.set(report.node, report);
      this.check();
    });
  }

  verdictOf(node: string): VerdictKind | undefined {
    return this.last.get(node)?.verdict;
  }

  reportOf(node: string): Report | undefined {
    return this.reports.get(node);
  }

  /** The next one of this kind on the node. TIMEOUT tells what was said instead. */
  next(node: string, verdict: VerdictKind, limitMs: number): Promise<Seen> {
    const from = this.verdicts.length;
    return this.until(`${node} to be ${verdict}`, limitMs, () =>
      this.verdicts.slice(from).find((v) => v.node === node && v.verdict === verdict),
    );
  }

  /** Looked at with each verdict and each report. */
  until<T>(what: string, limitMs: number, find: () => T | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        end();
        resolve(found);
      };
      const end = (): void => {
        clearTimeout(timer);
        this.waiting.delete(look);
      };
      const timer = setTimeout(() => {
        end();
        const said = this.verdicts.slice(-12).map((v) => `${v.node}: ${v.verdict} (${v.reason})`);
        reject(new MusterError('TIMEOUT', `waited ${limitMs / 1000} s for ${what}; last said: ${said.join(' ')}`));
      }, limitMs);
      this.waiting.add(look);
      look();
    });
  }

  private check(): void {
    for (const look of [...this.waiting]) look();
  }
}

import { fromToken, parseReport, Subjects, type Report } from '#contracts';
import type { BusLog } from '#bus';
import type { AgentBook } from '../conditions/agent-book.js';

/** What comes in under the agents' subjects: lets through what a node that is let in says of itself, once. */
export class ReportInbox {
  /** Subject → the text of its last report: the same one comes over each network, and is read once. */
  private readonly lastTexts = new Map<string, string>();

  constructor(
    private readonly agents: Pick<AgentBook, 'hearStranger'>,
    private readonly log: Pick<BusLog, 'warn'>,
  ) {}

  /**
   * Undefined: a copy, broken, in another's name, or of nobody that we watch.
   * @param watched undefined while nobody is known yet
   * @param now monotonic ms
   */
  read(
    text: string,
    subject: string,
    watched: { has(node: string): boolean } | undefined,
    now: number,
  ): Report | undefined {
    if (this.lastTexts.get(subject) === text) return undefined;
    const report = parseReport(text);
    // The server lets an agent publish on its own subject only: the subject is the identity.
    if (!report || subject !== Subjects.report(report.node)) {
      this.log.warn({ subject }, 'a report that is broken, or of another name than its subject, was ignored');
      // It could name anybody, and any number.
      if (report) this.agents.hearStranger(fromToken(subject.slice(Subjects.report('').length)), now);
      return undefined;
    }
    if (!watched) return undefined;
    if (!watched.has(report.node)) {
      this.agents.hearStranger(report.node, now);
      return undefined;
    }
    this.lastTexts.set(subject, text);
    return report;
  }

  /** Forgets whoever is not watched any more. */
  keepOnly(watched: ReadonlyMap<string, unknown>): void {
    if (this.lastTexts.size <= watched.size) return;
    const subjects = new Set([...watched.keys()].map((node) => Subjects.report(node)));
    for (const subject of this.lastTexts.keys()) if (!subjects.has(subject)) this.lastTexts.delete(subject);
  }
}

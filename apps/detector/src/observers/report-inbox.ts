import { fromToken, parseReport, Subjects, type Report } from '#contracts';
import type { BusLog } from '#bus';

/** ms between two lines of the log about one node's reports: broken ones come once a second, over each network. */
export const REFUSED_LOG_MS = 60_000;
/** Nodes whose lines are kept in mind at most. */
const MOST_LOGGED = 1_000;

/** Is told of what counts as no report. */
export interface Unheard {
  /** A report of a node that is not let in. */
  hearStranger(node: string, now: number): void;
  /** What a node has sent is no report. */
  hearUnreadable(node: string, now: number): void;
}

/** What comes in under the agents' subjects: lets through what a node that is let in says of itself, once. */
export class ReportInbox {
  /** Subject → the text of its last report: the same one comes over each network, and is read once. */
  private readonly lastTexts = new Map<string, string>();
  /** Node → when its refused reports were last logged. */
  private readonly loggedAt = new Map<string, number>();

  constructor(
    private readonly agents: Unheard,
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
      const node = fromToken(subject.slice(Subjects.report('').length));
      this.logRefused(node, subject, now);
      // It could name anybody, and any number.
      if (report) this.agents.hearStranger(node, now);
      else if (watched?.has(node)) this.agents.hearUnreadable(node, now);
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

  private logRefused(node: string, subject: string, now: number): void {
    if (now - (this.loggedAt.get(node) ?? -Infinity) < REFUSED_LOG_MS) return;
    if (this.loggedAt.size >= MOST_LOGGED) this.loggedAt.clear();
    this.loggedAt.set(node, now);
    this.log.warn({ node, subject }, 'reports that are broken, or of another name than their subject, are ignored');
  }
}

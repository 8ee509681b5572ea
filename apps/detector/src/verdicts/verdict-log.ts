import type { Verdict, VerdictEvidence } from '#contracts';
import { isSame, unexamined, type Judgement } from './verdict.js';

/** Which life of a node its reports last named; a new one is news whatever the verdict. */
export interface Life {
  bootId?: string;
  agentEpoch?: number;
  /** It counts as powered off, and speaks in another boot. */
  poweredOn?: true;
}

interface Held {
  judgement: Judgement;
  life: Life;
  epoch: number;
  seq: number;
}

const isSameLife = (a: Life, b: Life): boolean =>
  a.bootId === b.bootId && a.agentEpoch === b.agentEpoch && a.poweredOn === b.poweredOn;

/**
 * What has been said of each node in this term, numbered. Keeps what could not be published yet; of one node only the
 * last word is kept, for a newer verdict makes the older one worthless.
 */
export class VerdictLog {
  private readonly held = new Map<string, Held>();
  private readonly unpublished = new Map<string, Verdict>();
  private term = 0;
  private count = 0;

  get epoch(): number {
    return this.term;
  }

  get seq(): number {
    return this.count;
  }

  /** A new term: whatever was held before may have been judged otherwise meanwhile. */
  begin(epoch: number): void {
    this.held.clear();
    this.unpublished.clear();
    this.term = epoch;
    this.count = 0;
  }

  /** Everything is to be examined anew and said again, as it is found: nothing that was held before counts, or leaves. */
  sayAgain(): void {
    this.unpublished.clear();
    for (const t of this.held.values()) Object.assign(t, { epoch: 0, judgement: unexamined });
  }

  judgementOf(node: string): Judgement {
    return this.held.get(node)?.judgement ?? unexamined;
  }

  /** Forgets whoever is not watched any more. */
  keepOnly(watched: { has(node: string): boolean }): void {
    for (const node of this.held.keys()) {
      if (watched.has(node)) continue;
      this.held.delete(node);
      this.unpublished.delete(node);
    }
  }

  /** True when it is news, which is then waiting to be published. */
  say(node: string, judgement: Judgement, life: Life, wall: number, evidence: () => VerdictEvidence): boolean {
    const was = this.held.get(node);
    const news = was?.epoch !== this.term || !isSameLife(was.life, life) || !isSame(was.judgement, judgement);
    const seq = news ? ++this.count : was.seq;
    this.held.set(node, { judgement, life, epoch: this.term, seq });
    if (news) this.unpublished.set(node, this.asVerdict(node, wall, evidence()));
    return news;
  }

  asVerdict(node: string, wall: number, evidence: VerdictEvidence): Verdict {
    const t = this.held.get(node);
    const { verdict, networks, reason } = t?.judgement ?? unexamined;
    return {
      node,
      verdict,
      networks,
      epoch: this.term,
      seq: t?.seq ?? 0,
      at: wall,
      ...t?.life,
      reason,
      evidence,
    };
  }

  waiting(): Verdict[] {
    return [...this.unpublished.values()];
  }

  published(v: Verdict): void {
    if (this.unpublished.get(v.node) === v) this.unpublished.delete(v.node);
  }

  /** Every node that is not plainly UP. */
  notUp(): { node: string; judgement: Judgement; seq: number }[] {
    return [...this.held]
      .filter(([, t]) => t.judgement.verdict !== 'UP')
      .map(([node, t]) => ({ node, judgement: t.judgement, seq: t.seq }));
  }
}

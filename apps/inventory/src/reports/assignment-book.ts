import type { WorkloadRecord } from '#contracts';

type Seen = Pick<WorkloadRecord, 'generation' | 'assignment'>;

/**
 * Where each workload was assigned, and until when, by the changes of its record as this process has seen them. Each
 * assignment has a generation of its own, so that one which a watch has skipped leaves a gap. Times are monotonic, ms.
 */
export class AssignmentBook {
  private readonly last = new Map<string, { generation: number; node: string | undefined }>();
  /** Node → workload → when it was last seen there. */
  private readonly left = new Map<string, Map<string, number>>();
  /** Workload → when one or more of its assignments were skipped. */
  private readonly skipped = new Map<string, number>();

  /**
   * @param since what was before, it does not know
   * @param all as they stand then
   * @param asked the earliest moment that anybody asks about of a node; what it has left before is forgotten
   */
  constructor(
    private readonly since: number,
    all: Iterable<Seen & Pick<WorkloadRecord, 'name'>> = [],
    private readonly asked: (node: string) => number = () => -Infinity,
  ) {
    for (const w of all) this.last.set(w.name, { generation: w.generation, node: w.assignment?.node });
  }

  /** @param w undefined: it was deleted */
  see(name: string, w: Seen | undefined, now: number): void {
    const was = this.last.get(name);
    if (was?.node !== undefined && was.node !== w?.assignment?.node) this.leave(was.node, name, now);
    if (w === undefined) {
      this.last.delete(name);
      this.skipped.delete(name);
      return;
    }
    if (w.generation > (was?.generation ?? 0) + 1) this.skipped.set(name, now);
    this.last.set(name, { generation: w.generation, node: w.assignment?.node });
  }

  /** It is assigned to the node, or was at or after that moment, or it is not known that it was not. */
  mayHaveBeenOn(node: string, name: string, moment: number): boolean {
    const { since, last, left, skipped } = this;
    if (moment < since || last.get(name)?.node === node) return true;
    return [left.get(node)?.get(name), skipped.get(name)].some((at) => at !== undefined && at >= moment);
  }

  private leave(node: string, name: string, now: number): void {
    const names = this.left.get(node) ?? new Map<string, number>();
    const asked = this.asked(node);
    for (const [other, at] of names) if (at < asked) names.delete(other);
    this.left.set(node, names.set(name, now));
  }
}

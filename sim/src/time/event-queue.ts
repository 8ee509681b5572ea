/** Something that is to happen at a moment of virtual time. */
export interface QueuedEvent {
  readonly atNs: number;
  /** Of its queueing: what is due at the same moment happens in this order. */
  readonly sequence: number;
  readonly label: string;
  /** Undefined: it was taken back. */
  fn: (() => void) | undefined;
  /** Asked when it is due. False: it does not happen now; whoever is asked keeps it for later, or drops it. @default yes */
  readonly admits: ((event: QueuedEvent) => boolean) | undefined;
}

/** A binary heap, earliest first. What was taken back stays in it until its moment. */
export class EventQueue {
  private readonly heap: QueuedEvent[] = [];

  push(event: QueuedEvent): void {
    const heap = this.heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as QueuedEvent;
      if (!before(event, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  /** The earliest that was not taken back. */
  peek(): QueuedEvent | undefined {
    for (;;) {
      const first = this.heap[0];
      if (first === undefined || first.fn !== undefined) return first;
      this.pop();
    }
  }

  pop(): QueuedEvent | undefined {
    const heap = this.heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && before(heap[right] as QueuedEvent, heap[child] as QueuedEvent)) child = right;
      const below = heap[child] as QueuedEvent;
      if (!before(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const before = (a: QueuedEvent, b: QueuedEvent): boolean =>
  a.atNs < b.atNs || (a.atNs === b.atNs && a.sequence < b.sequence);

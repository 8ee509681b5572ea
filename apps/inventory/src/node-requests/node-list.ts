import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  parseSelector,
  type NodeListRequest,
  type NodeRecord,
  type NodeView,
  type Page,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import type { Entry } from '#bus';
import { InventoryStore } from '../store/inventory-store.js';
import { ServiceView, type ServiceSnapshot } from '../nodes/service-view.js';
import { shownNode } from '../nodes/shown-node.js';
import { MOST_CHARS, recordText, viewText } from '../nodes/node-text.js';

/** Nodes in one answer, at most. */
const MOST_NODES = 500;

/** Of which names there may be a word at all. */
type Bounds = Pick<RpcRequest<'inventory.nodes.text'>, 'names' | 'cursor' | 'until'>;

/** The fleet in pages. It looks only at the nodes from the cursor on, and computes only what is asked for. */
@Injectable()
export class NodeList implements OnApplicationShutdown {
  /** By name; undefined: to be made anew, nodes have come or gone. */
  private names: string[] | undefined;
  private readonly known = new Set<string>();
  private readonly stop: () => void;

  constructor(
    private readonly store: InventoryStore,
    private readonly service: ServiceView,
  ) {
    this.stop = store.nodes.view.onChange((name, node) => {
      if (node === undefined || !this.known.has(name)) this.names = undefined;
    });
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** `names` that nobody has are left out silently. @throws MusterError BAD_REQUEST */
  page(q: NodeListRequest): Page<NodeView> {
    const snapshot = this.service.snapshot();
    const { entries, next } = this.select(q, snapshot);
    return { items: entries.map((e) => snapshot.view(e)), ...(next !== undefined && { next }) };
  }

  text({ fields, divide, ...q }: RpcRequest<'inventory.nodes.text'>): RpcAnswer<'inventory.nodes.text'> {
    const snapshot = this.service.snapshot();
    const { entries, next } = this.select(q, snapshot);
    const texts = entries.map((e) =>
      fields ? this.fieldsText(e, fields, snapshot) : viewText(e.value, snapshot.computed(e)),
    );
    return {
      text: texts.join(','),
      count: texts.length,
      ...(next !== undefined && { next, ...(divide === true && { cuts: this.cuts(q, next) }) }),
      ...(q.until !== undefined && { until: q.until }),
    };
  }

  /** Of what is left behind `next`: each part has as many nodes as a page. */
  private cuts({ names, until }: Bounds, next: string): string[] {
    const rest = [...this.from({ cursor: next, ...(names && { names }), ...(until !== undefined && { until }) })];
    return rest.filter((_, i) => (i + 1) % MOST_NODES === 0 && i + 1 < rest.length);
  }

  private select(
    q: NodeListRequest & Bounds,
    snapshot: ServiceSnapshot,
  ): { entries: Entry<NodeRecord>[]; next?: string } {
    const limit = Math.min(Math.max(1, q.limit ?? MOST_NODES), MOST_NODES);
    const selects = q.selector === undefined ? undefined : parseSelector(q.selector);
    const entries: Entry<NodeRecord>[] = [];
    let chars = 0;
    for (const name of this.from(q)) {
      const entry = this.store.nodes.view.get(name);
      if (!entry || !recordFits(q, entry.value)) continue;
      if (q.inService !== undefined && (snapshot.reasons(entry.value).length === 0) !== q.inService) continue;
      if (selects && !selects(lazyView(entry, snapshot))) continue;
      const last = entries.at(-1);
      if (last && (entries.length === limit || chars > MOST_CHARS)) return { entries, next: last.key };
      entries.push(entry);
      chars += recordText(entry.value).length;
    }
    return { entries };
  }

  /** Names behind the cursor, in their order. */
  private *from({ names, cursor, until }: Bounds): Iterable<string> {
    const all = names === undefined || names.length === 0 ? this.sorted() : [...new Set(names)].sort(byName);
    const end = until === undefined ? all.length : behind(all, until);
    for (let i = cursor === undefined ? 0 : behind(all, cursor); i < end; i++) yield all[i] as string;
  }

  private sorted(): string[] {
    if (this.names) return this.names;
    this.names = this.store.nodes.view.entries().map((e) => e.key);
    this.names.sort(byName);
    this.known.clear();
    for (const name of this.names) this.known.add(name);
    return this.names;
  }

  private fieldsText(entry: Entry<NodeRecord>, fields: readonly string[], snapshot: ServiceSnapshot): string {
    const recorded = fields.every((f) => f === 'revision' || Object.hasOwn(entry.value, f));
    const node = recorded ? { ...shownNode(entry.value), revision: entry.revision } : snapshot.view(entry);
    return JSON.stringify(
      Object.fromEntries(
        fields.flatMap((f) => (Object.hasOwn(node, f) ? [[f, node[f as keyof typeof node] as unknown]] : [])),
      ),
    );
  }
}

/** For a selector: what it does not ask for is not computed. */
const lazyView = ({ value }: Entry<NodeRecord>, snapshot: ServiceSnapshot): NodeView =>
  Object.create(shownNode(value), { inService: { get: () => snapshot.reasons(value).length === 0 } }) as NodeView;

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Index of the first name after the cursor. */
function behind(names: readonly string[], cursor: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle] as string) <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}

const recordFits = (q: NodeListRequest, n: NodeRecord): boolean =>
  (q.status === undefined || n.status === q.status) &&
  (q.state === undefined || n.state === q.state) &&
  (q.hostGroup === undefined || n.hostGroup === q.hostGroup) &&
  (q.failureDomain === undefined || n.failureDomain === q.failureDomain) &&
  (q.enrolled === undefined || n.enrolled === q.enrolled);

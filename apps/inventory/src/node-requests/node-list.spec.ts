import { describe, expect, it } from 'vitest';
import type { RpcRequest } from '#contracts';
import type { InventoryStore } from '../store/inventory-store.js';
import type { ServiceView } from '../nodes/service-view.js';
import { MemoryStore } from '../testing/memory-store.js';
import { aNode } from '../testing/records.js';
import { NodeList } from './node-list.js';

const FLEET = 1_700;
const names = Array.from({ length: FLEET }, (_, i) => `host${String(i).padStart(4, '0')}-X`);

/** A fleet of which all is in service; each fourth node is of host group `db`. */
function fleet() {
  const store = new MemoryStore();
  for (const [i, name] of names.entries()) store.nodes.set(name, aNode(name, i % 4 === 0 ? { hostGroup: 'db' } : {}));
  const snapshot = () => ({ reasons: () => [], computed: ({ revision }: { revision: number }) => ({ revision }) });
  const list = new NodeList(store as unknown as InventoryStore, { snapshot } as unknown as ServiceView);
  return { store, page: (q: RpcRequest<'inventory.nodes.text'>) => list.text(q) };
}

const namesIn = (text: string): string[] => (JSON.parse(`[${text}]`) as { name: string }[]).map((n) => n.name);

describe('the rest of a long list', () => {
  it('is divided where it is asked for, into parts that together are all of it', () => {
    const { page } = fleet();
    const first = page({ divide: true });
    expect(namesIn(first.text)).toEqual(names.slice(0, 500));
    expect(first).toMatchObject({ count: 500, next: names[499], cuts: [names[999], names[1499]] });
    const parts = [names[499], names[999], names[1499]].map((cursor, i) =>
      page({ cursor: cursor as string, ...(i < 2 && { until: first.cuts?.[i] as string }) }),
    );
    expect(parts.map((p) => p.until)).toEqual([names[999], names[1499], undefined]);
    for (const part of parts) expect(part.next).toBeUndefined();
    expect(parts.flatMap((p) => namesIn(p.text))).toEqual(names.slice(500));
    expect(page({}).cuts).toBeUndefined();
  });

  it('has the parts of those that are asked for, and none where one page is all', () => {
    const { page } = fleet();
    expect(page({ divide: true, hostGroup: 'db' })).toMatchObject({ count: 425 });
    expect(page({ divide: true, hostGroup: 'db' }).cuts).toBeUndefined();
    expect(page({ divide: true, cursor: names[699] as string }).cuts).toEqual([]);
    expect(page({ divide: true, names: names.slice(100, 1_200) }).cuts).toEqual([names[1_099]]);
    expect(page({ cursor: names[9] as string, until: names[19] as string, limit: 4 }).next).toBe(names[13]);
  });

  it('takes in who came since, and leaves out who went', () => {
    const { store, page } = fleet();
    const until = page({ divide: true }).cuts?.[0] as string;
    store.nodes.set(names[600] as string, undefined);
    store.nodes.set('host0700-Y', aNode('host0700-Y'));
    const part = namesIn(page({ cursor: names[499] as string, until }).text);
    expect(part).toHaveLength(500);
    expect(part).toContain('host0700-Y');
    expect(part).not.toContain(names[600]);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Knot {
  rooms: string[];
  arrows: string[];
}
const { knots, complaint } = (await import('../../scripts/rooms/knots.mjs' as string)) as {
  knots: (imports: Map<string, string[]>) => Knot[];
  complaint: (place: string, found: Knot[]) => string | undefined;
};
const { upwards } = (await import('../../scripts/rooms/upwards.mjs' as string)) as {
  upwards: (imports: Map<string, string[]>, order: string) => string[];
};
const { orders } = (await import('../../scripts/rooms/orders.mjs' as string)) as { orders: Record<string, string> };
const { importsWithin } = (await import('../../scripts/rooms/imports.mjs' as string)) as {
  importsWithin: (folder: string) => Map<string, string[]>;
};

const of = (imports: Record<string, string[]>): Knot[] => knots(new Map(Object.entries(imports)));

describe('rooms of a program', () => {
  it('may stand on each other, and files of one room may know each other', () => {
    expect(of({ 'main.ts': ['a/x.ts'], 'a/x.ts': ['a/y.ts', 'b/z.ts'], 'a/y.ts': ['b/z.ts'], 'b/z.ts': [] })).toEqual(
      [],
    );
  });

  it('are in a knot where each is reached from each, by whatever files and over whatever rooms', () => {
    const found = of({
      'a/x.ts': ['b/x.ts'],
      'b/y.ts': ['c/x.ts'],
      'c/y.ts': ['a/y.ts', 'd/x.ts'],
      'd/x.ts': [],
      'e/x.ts': ['a/x.ts'],
    });
    expect(found).toEqual([
      { rooms: ['a', 'b', 'c'], arrows: ['a/x.ts → b/x.ts', 'b/y.ts → c/x.ts', 'c/y.ts → a/y.ts'] },
    ]);
  });

  it('do not know what composes them, nor a room within a room what holds it', () => {
    expect(of({ 'main.ts': ['a/x.ts'], 'log.ts': [], 'a/x.ts': ['log.ts'] })[0]?.rooms).toEqual(['.', 'a']);
    expect(of({ 'a/x.ts': ['a/b/y.ts'], 'a/b/z.ts': ['a/w.ts'] })[0]?.rooms).toEqual(['a', 'a/b']);
  });

  it('that are in two knots are told apart', () => {
    expect(
      of({ 'a/x.ts': ['b/x.ts'], 'b/x.ts': ['a/y.ts', 'c/x.ts'], 'c/x.ts': ['d/x.ts'], 'd/x.ts': ['c/y.ts'] }).map(
        (k) => k.rooms,
      ),
    ).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('are told with the imports that lead round', () => {
    expect(complaint('apps/x', [])).toBeUndefined();
    const text = complaint('apps/x', of({ 'a/x.ts': ['b/x.ts'], 'b/x.ts': ['a/y.ts'] }));
    expect(text).toContain('apps/x: 2 imports lead round');
    expect(text).toContain('knot of a, b');
    expect(text).toContain('a/x.ts → b/x.ts');
  });

  it('are read from the sources: imports of types and of whole modules too, but nothing of specs', () => {
    const read = importsWithin('apps/cli/src');
    expect(read.get('main.ts')).toContain('execute.ts');
    expect(read.get('command/watch.ts')).toContain('command/command.ts');
    expect(read.get('commands/init.ts')).toContain('hosts/admin-token.ts');
    expect([...read.keys()].filter((f) => /\.spec\.|testing\//.test(f))).toEqual([]);
  });
});

describe('the order of rooms', () => {
  const found = (imports: Record<string, string[]>, order: string): string[] =>
    upwards(new Map(Object.entries(imports)), order);

  it('lets each import those before it, and what composes them all', () => {
    const imports = { 'main.ts': ['b/x.ts'], 'b/x.ts': ['b/y.ts', 'a/x.ts'], 'b/y.ts': [], 'a/x.ts': [] };
    expect(found(imports, 'a b')).toEqual([]);
  });

  it('refuses an import of one that comes later, also where it makes no knot', () => {
    expect(found({ 'a/x.ts': ['b/x.ts'], 'b/x.ts': [] }, 'a b')).toEqual(['a/x.ts → b/x.ts: b is above a']);
    expect(found({ 'a/x.ts': ['log.ts'], 'log.ts': [] }, 'a')).toEqual(['a/x.ts → log.ts: . is above a']);
  });

  it('has each room that is there, and none that is gone', () => {
    expect(found({ 'a/x.ts': [] }, 'b')).toEqual(['a has no place in the order', 'b is in the order and gone']);
  });

  it('refuses a planted import in a program as it is', () => {
    const imports = new Map(importsWithin('apps/inventory/src'));
    const order = orders['apps/inventory'] ?? '';
    expect(upwards(imports, order)).toEqual([]);
    const low = 'store/inventory-store.ts';
    imports.set(low, [...(imports.get(low) ?? []), 'workloads/moves.ts']);
    expect(upwards(imports, order)).toEqual([`${low} → workloads/moves.ts: workloads is above store`]);
  });

  it('is that of the page', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    const table = page.slice(page.indexOf('The rooms of `apps/inventory`'), page.indexOf('A service imports'));
    const told = [...table.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, names = '']) => names.match(/[\w/-]+/g) ?? []);
    expect(told).toEqual(orders['apps/inventory']?.split(/\s+/).filter((room) => room !== ''));
  });
});

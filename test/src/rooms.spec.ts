import { describe, expect, it } from 'vitest';

interface Knot {
  rooms: string[];
  arrows: string[];
}
const { knots, complaint } = (await import('../../scripts/rooms/knots.mjs' as string)) as {
  knots: (imports: Map<string, string[]>) => Knot[];
  complaint: (place: string, found: Knot[], known?: { rooms: number; imports: number }) => string | undefined;
};
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

  it('in a known knot may become fewer, which is then written down, and never more', () => {
    const found = of({ 'a/x.ts': ['b/x.ts'], 'b/x.ts': ['a/y.ts'] });
    expect(complaint('apps/x', [])).toBeUndefined();
    expect(complaint('apps/x', found, { rooms: 2, imports: 2 })).toBeUndefined();
    expect(complaint('apps/x', found)).toContain('a/x.ts → b/x.ts');
    expect(complaint('apps/x', found, { rooms: 2, imports: 1 })).toContain('2 and 1 allowed');
    expect(complaint('apps/x', found, { rooms: 1, imports: 3 })).toContain('1 and 3 allowed');
    expect(complaint('apps/x', found, { rooms: 3, imports: 3 })).toContain('write what there is now');
  });

  it('are read from the sources: imports of types and of whole modules too, but nothing of specs', () => {
    const read = importsWithin('apps/cli/src');
    expect(read.get('main.ts')).toContain('execute.ts');
    expect(read.get('command/watch.ts')).toContain('command/command.ts');
    expect(read.get('commands/init.ts')).toContain('hosts/admin-token.ts');
    expect([...read.keys()].filter((f) => /\.spec\.|testing\//.test(f))).toEqual([]);
  });
});

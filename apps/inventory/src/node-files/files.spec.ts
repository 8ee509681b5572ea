import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { NodeRecord } from '#contracts';
import { aNode } from '../testing/records.js';
import { columnsOf } from './csv-columns.js';
import { csvHead, csvLines, readCsv } from './csv-file.js';
import { exportedRow } from './exported-row.js';
import type { FileContent } from './file-row.js';
import { parseFile } from './parse-file.js';
import { cellOf, valueOf } from './var-cell.js';
import { readYaml, yamlHead, yamlItems } from './yaml-file.js';

const asCsv = (nodes: NodeRecord[]): string => {
  const rows = nodes.map(exportedRow);
  const columns = columnsOf(rows);
  return csvHead(columns) + csvLines(rows, columns);
};
const asYaml = (nodes: NodeRecord[]): string => yamlHead(nodes.length === 0) + yamlItems(nodes.map(exportedRow));
const rowsOf = (file: FileContent): unknown[] => {
  expect(file.errors).toEqual([]);
  return JSON.parse(JSON.stringify(file.rows.map((r) => r.row))) as unknown[];
};

describe('a file of nodes', () => {
  it('holds all that an operator may set, and no password', () => {
    const nodes = [
      aNode('a-1', {
        hostGroup: 'service-worker',
        networks: {
          management: { address: '10.0.0.1' },
          backend: { address: '10.1.0.1' },
          storage: { address: 'fd00::1' },
        },
        powerLevels: [
          [
            {
              id: 'bmc',
              driver: 'ipmitool',
              address: '10.2.0.1',
              port: 9001,
              username: 'admin',
              secret: 'power=a-1=bmc',
            },
          ],
          [
            { id: 'pdu-a', driver: 'ipmitool', address: '10.2.0.8', options: { port: '4' } },
            { id: 'pdu-b', driver: 'ipmitool', address: '10.2.0.9' },
          ],
        ],
        vars: { rack: 'r1', slots: 4, ssd: true, disks: ['a', 'b'], gone: null, note: 'a, "b"\nc' },
      }),
      aNode('b-2', { powerLevels: [], enrolled: false }),
    ];
    const expected = nodes.map(exportedRow);
    expect(rowsOf(readYaml(asYaml(nodes)))).toEqual(expected);
    expect(rowsOf(readCsv(asCsv(nodes)))).toEqual(expected);
    expect(asYaml(nodes) + asCsv(nodes)).not.toMatch(/secret|gone/);
    expect(asCsv(nodes).split('\n')[0]).toBe(
      'name,label,serial,hostGroup,failureDomain,provisionDriver,fencing,enrolled,management,backend,network:storage,' +
        'power.id,power.driver,power.address,power.port,power.username,' +
        'power.2.1.id,power.2.1.driver,power.2.1.address,power.2.1.options,' +
        'power.2.2.id,power.2.2.driver,power.2.2.address,var:disks,var:note,var:rack,var:slots,var:ssd',
    );
    expect(asYaml([])).toBe('nodes: []\n');
  });

  it('gives variables back as they were, whatever they are', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), (vars) => {
        const node = aNode('a-1', { vars: vars as Record<string, unknown> });
        const expected = JSON.parse(JSON.stringify([exportedRow(node)])) as unknown;
        expect(rowsOf(readYaml(asYaml([node])))).toEqual(expected);
        expect(rowsOf(readCsv(asCsv([node])))).toEqual(expected);
      }),
    );
  });

  it('has texts in its cells, and values where JSON would write them so', () => {
    for (const text of ['r1', '007', '1.10', '12345678901234567890', 'yes', '']) expect(valueOf(text)).toBe(text);
    expect(valueOf('4')).toBe(4);
    expect(valueOf('false')).toBe(false);
    expect(valueOf('[1,"a"]')).toEqual([1, 'a']);
    expect(cellOf('4')).toBe('"4"');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.jsonValue()), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        expect(valueOf(cellOf(plain))).toEqual(plain);
      }),
    );
  });

  it('is written by hand as well, with default columns and cells left empty', () => {
    const text =
      '\uFEFFlabel, serial ,management,power.driver,power.address,var:rack\r\nhost,1, 10.0.0.1 ,,,r1\r\nhost,2,10.0.0.2,ipmitool,10.2.0.2,\r\n';
    expect(rowsOf(readCsv(text))).toEqual([
      { label: 'host', serial: '1', networks: { management: { address: '10.0.0.1' } }, vars: { rack: 'r1' } },
      {
        label: 'host',
        serial: '2',
        networks: { management: { address: '10.0.0.2' } },
        powerLevels: [[{ id: 'bmc', driver: 'ipmitool', address: '10.2.0.2' }]],
      },
    ]);
  });

  it('tells the line on which each node begins', () => {
    const lines = (f: FileContent): number[] => f.rows.map((r) => r.line);
    expect(
      lines(readYaml('# fleet\nnodes:\n  - label: a\n    serial: "1"\n\n  - {label: b,\n     serial: "2"}\n')),
    ).toEqual([3, 6]);
    expect(lines(readCsv('label,serial\n\na,"1\n2"\n\n\nb,2\nc,3'))).toEqual([3, 7, 8]);
  });

  it.each([
    ['a column that there is not', readCsv('label,rack\na,1\n'), 1, '"rack" is no column'],
    ['a column twice', readCsv('label,label\na,1\n'), 1, '"label" is there twice'],
    ['a row that is too short', readCsv('label,serial\na,1\nb\n'), 3, 'it has 1 cells, the header 2'],
    ['an open quote', readCsv('label,serial\na,"1\n'), 2, 'Quote Not Closed'],
    ['nothing', readCsv(''), 1, 'the first line names the columns'],
    ['no YAML', readYaml('nodes:\n  - label: a\n  b: [\n'), 3, ''],
    ['another list', readYaml('hosts: []\n'), 1, '"nodes"'],
    ['no mapping', readYaml('- a\n'), 1, '"nodes"'],
    ['a node that is a text', readYaml('nodes:\n  - label: a\n  - b\n'), 3, 'a node is a mapping'],
    ['one key twice', readYaml('nodes:\n  - label: a\n    label: b\n'), 3, 'unique'],
    ['nothing but brackets', readYaml(`nodes: ${'['.repeat(400_000)}`), 1, ''],
    ['aliases of aliases', readYaml(bomb()), 1, 'alias'],
  ])('with %s says so, and where', (_what, { errors }, line, message) => {
    expect(errors[0]?.line).toBe(line);
    expect(errors[0]?.message).toContain(message);
  });
});

function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, i) => `  - &a${i + 1} {x: [${`*a${i},`.repeat(9)}]}`);
  return `nodes:\n  - &a0 {x: 1}\n${levels.join('\n')}\n`;
}

describe('cells of a file that a spreadsheet would carry out', () => {
  it('are written as texts, and read as what they were', () => {
    const vars = {
      a: '=cmd|x',
      b: '+1-2',
      c: '@SUM(A1)',
      d: "'=quoted",
      e: '\t=tab',
      f: "'plain",
      g: '-5',
      h: -5,
      i: '-x',
      j: "''-x",
      k: ' =x',
    };
    const node = aNode('a-1', { vars, failureDomain: '=HYPERLINK("http://x")' });
    const cells = asCsv([node])
      .split('\n')
      .slice(1)
      .flatMap((l) => l.split(','));
    expect(cells.filter((cell) => /^"?\s*[=+\-@\t\r]/.test(cell))).toEqual(['-5']);
    expect(rowsOf(readCsv(asCsv([node])))).toEqual([exportedRow(node)]);
  });

  it('and whatever else a text is, it comes back', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^['=+\-@\t\r\n ]{0,4}[a-z0-9]{0,3}$/), (text) => {
        const node = aNode('a-1', { vars: { x: text } });
        expect(rowsOf(readCsv(asCsv([node])))).toEqual([exportedRow(node)]);
      }),
    );
  });
});

describe('a file with texts that steer a terminal', () => {
  it.each([
    ['yaml', 'nodes:\n  - label: "\\e]0;x"\n'],
    ['yaml', 'nodes:\n  - vars: {"a\\0": 1}\n'],
    ['csv', 'label\n\u001b]0;x\n'],
  ] as const)('is refused (%s, %j)', (format, text) => {
    expect(parseFile(format, text)).toMatchObject({
      rows: [],
      errors: [{ message: expect.stringContaining('control') as unknown }],
    });
  });
});

describe('a file that is too large in one of its parts', () => {
  const many = (n: number, part: (i: number) => string): string =>
    Array.from({ length: n }, (_, i) => part(i)).join('');
  it.each([
    [
      'yaml',
      'members',
      `nodes:\n  - label: a\n    vars:\n${many(1001, (i) => `      k${i}: 1\n`)}`,
      4,
      'at most 1000 members',
    ],
    ['yaml', 'items', `nodes:\n  - label: a\n    vars: {x: [${many(2001, () => '1,')}]}\n`, 3, 'at most 2000 items'],
    ['yaml', 'levels', `nodes:\n  - x: ${'['.repeat(60)}${']'.repeat(60)}\n`, 1, 'levels deep'],
    ['yaml', 'levels of a line', `nodes:\n${'- '.repeat(60)}\n`, 1, 'levels deep'],
    ['yaml', 'levels of lines', `nodes:\n  - ${many(60, (i) => `x:\n${' '.repeat(i + 5)}`)}y: 1\n`, 41, 'levels deep'],
    ['yaml', 'aliases', `nodes:\n  - &a {label: a}\n${many(2001, () => '  - *a\n')}`, 1, 'more than 2000 aliases'],
    ['yaml', 'nodes', `nodes:\n${many(2001, () => '  - {label: a}\n')}`, 1, 'this one has 2001'],
    [
      'yaml',
      'values that its aliases stand for',
      `nodes:\n  - &a {x: [${many(900, () => '1,')}]}\n${many(300, () => `  - {x: *a}\n`)}`,
      1,
      'more than 200000 values',
    ],
    ['csv', 'columns', `${many(1001, (i) => `var:c${i},`)}label\n`, 1, 'at most 1000 columns'],
    ['csv', 'nodes', `label\n${many(2001, () => 'a\n')}`, 1, 'this one has 2001'],
  ] as const)('%s, in its %s: it says so', (format, _part, text, line, message) => {
    const { rows, errors } = parseFile(format, text);
    expect(rows).toEqual([]);
    expect(errors[0]).toMatchObject({ line, message: expect.stringContaining(message) as unknown });
  });
});

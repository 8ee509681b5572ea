import { MANAGEMENT } from '#contracts/addresses/networks.js';
import { cellOf, valueOf } from './var-cell.js';

/**
 * Columns of a file of nodes. A cell that is empty says nothing: the field stays as it is, or takes its default.
 *
 * - `name`, `label`, `serial`, `hostGroup`, `failureDomain`, `provisionDriver`, `fencing`, `enrolled`
 * - `management`, `backend`, `network:NAME`: the address on that network
 * - `power.FIELD`: the first power device; `power.L.N.FIELD`: device N of level L, both counted from 1.
 *   FIELD is `id` (default `bmc`), `driver`, `address`, `port`, `username`, `password`, `shared` (`true`), or
 *   `options` as JSON
 * - `var:NAME`: a variable; see {@link valueOf}
 */
const PLAIN = ['name', 'label', 'serial', 'hostGroup', 'failureDomain', 'provisionDriver', 'fencing', 'enrolled'];
const NETWORKS = [MANAGEMENT, 'backend'];
const POWER = ['id', 'driver', 'address', 'port', 'username', 'password', 'options', 'shared'];
const MOST_LEVELS = 4;
const MOST_DEVICES = 8;

export type Row = Record<string, unknown>;
type Put = (row: Row, cell: string) => void;

const member = (row: Row, name: string): Row => (row[name] ??= {}) as Row;

/** Reads a cell of the column into the row; undefined: there is no such column. */
export function columnReader(column: string): Put | undefined {
  if (column === 'enrolled') return (row, cell) => (row[column] = valueOf(cell.trim()));
  if (PLAIN.includes(column)) return (row, cell) => (row[column] = cell.trim());
  const network = NETWORKS.includes(column) ? column : /^network:(?!__proto__$)(.+)$/.exec(column)?.[1];
  if (network !== undefined) return (row, cell) => (member(row, 'networks')[network] = { address: cell.trim() });
  const variable = /^var:(?!__proto__$)(.+)$/.exec(column)?.[1];
  if (variable !== undefined) return (row, cell) => (member(row, 'vars')[variable] = valueOf(cell));
  const power = /^power\.(?:([1-9])\.([1-9])\.)?([a-z]+)$/.exec(column);
  if (!power || !POWER.includes(power[3] ?? '')) return undefined;
  const [level, device, field] = [Number(power[1] ?? 1), Number(power[2] ?? 1), power[3] ?? ''];
  if (level > MOST_LEVELS || device > MOST_DEVICES) return undefined;
  return (row, cell) =>
    (deviceAt(row, level, device)[field] = ['port', 'options', 'shared'].includes(field) ? valueOf(cell.trim()) : cell);
}

function deviceAt(row: Row, level: number, device: number): Row {
  const levels = (row['powerLevels'] ??= []) as Row[][];
  const devices = (levels[level - 1] ??= []);
  return (devices[device - 1] ??= { id: 'bmc' });
}

/** The columns that hold all that these rows say, in one order whatever the rows' is. */
export function columnsOf(rows: readonly Row[]): string[] {
  const cells = new Set<string>();
  for (const row of rows) for (const column of Object.keys(cellsOf(row))) cells.add(column);
  const fixed = [...PLAIN, ...NETWORKS].filter((c) => cells.has(c));
  const rest = [...cells].filter((c) => !fixed.includes(c));
  return [...fixed, ...rest.sort((a, b) => (order(a) < order(b) ? -1 : 1))];
}

/** Other networks, then power devices field by field, then variables. */
function order(column: string): string {
  if (!column.startsWith('power.')) return `${column.startsWith('network:') ? 0 : 2} ${column}`;
  const parts = column.split('.');
  const at = parts.length === 2 ? '1.1' : parts.slice(1, 3).join('.');
  return `1 ${at} ${POWER.indexOf(parts.at(-1) ?? '')}`;
}

/** Column → cell of one row. */
export function cellsOf(row: Row): Record<string, string> {
  const cells: Record<string, string> = {};
  for (const column of PLAIN) if (row[column] !== undefined) cells[column] = plainCell(row[column]);
  for (const [name, { address }] of Object.entries((row['networks'] ?? {}) as Record<string, { address: string }>))
    cells[NETWORKS.includes(name) ? name : `network:${name}`] = address;
  for (const [l, level] of ((row['powerLevels'] ?? []) as Row[][]).entries())
    for (const [d, device] of level.entries())
      for (const field of POWER)
        if (device[field] !== undefined) {
          const prefix = l === 0 && d === 0 ? 'power' : `power.${l + 1}.${d + 1}`;
          cells[`${prefix}.${field}`] = plainCell(device[field]);
        }
  for (const [name, value] of Object.entries((row['vars'] ?? {}) as Row)) cells[`var:${name}`] = cellOf(value);
  return cells;
}

const plainCell = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

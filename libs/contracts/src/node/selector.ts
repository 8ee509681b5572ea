import { MusterError } from '../errors/errors.js';
import { NodeStatuses, type NodeView } from './node.js';

/** Does the node belong to the selection? */
export type NodePredicate = (node: NodeView) => boolean;

const FLAGS = ['true', 'false'];

/** Values that a key may take; absent: any. A misspelt value would select nothing, and behind `!=` everything. */
const KNOWN_VALUES: Record<string, readonly string[]> = {
  status: NodeStatuses,
  state: ['Unknown', 'Discovered', 'Disappeared'],
  fencing: ['auto', 'manual'],
  enrolled: FLAGS,
  inService: FLAGS,
};

/** What stands under each key: one value, or the addresses, one for each network. */
const READ: Record<string, (n: NodeView) => readonly unknown[]> = {
  name: (n) => [n.name],
  label: (n) => [n.label],
  serial: (n) => [n.serial],
  status: (n) => [n.status],
  state: (n) => [n.state],
  hostGroup: (n) => [n.hostGroup],
  failureDomain: (n) => [n.failureDomain],
  fencing: (n) => [n.fencing],
  provisionDriver: (n) => [n.provisionDriver],
  enrolled: (n) => [n.enrolled],
  inService: (n) => [n.inService],
  address: (n) => Object.values(n.networks).map((network) => network.address),
};

/** Keys of a selector, beside `vars.NAME`. */
export const SelectorKeys: readonly string[] = Object.keys(READ);

/**
 * Reads `vars.rack=r1,failureDomain!=a,enrolled`: pieces between commas, all of which must hold. `key=value`,
 * `key!=value`, or `key` alone: it is set, and not `false`. What is not set has the empty value: `hostGroup=` selects
 * the nodes without one. `address` means any network of the node. A value cannot hold a comma, nor begin with `=`.
 * @throws MusterError BAD_REQUEST naming the piece that is wrong
 */
export function parseSelector(text: string): NodePredicate {
  const pieces = text.split(',').map(parsePiece);
  return (node) => pieces.every((holds) => holds(node));
}

function parsePiece(given: string): NodePredicate {
  const piece = given.trim();
  const wrong = (why: string): MusterError => new MusterError('BAD_REQUEST', `selector "${piece}": ${why}`, { piece });
  const parts = /^([^=!\s]+)\s*(?:(!?=)\s*([^=].*)?)?$/s.exec(piece);
  const key = parts?.[1];
  if (key === undefined) throw wrong('write key=value, key!=value or key, with commas between');
  const read = readerOf(key);
  if (!read) throw wrong(`"${key}" is no key; there are vars.NAME and ${SelectorKeys.join(', ')}`);
  const operator = parts?.[2];
  if (operator === undefined) return (node) => read(node).some(isSet);
  const value = parts?.[3] ?? '';
  const known = Object.hasOwn(KNOWN_VALUES, key) ? KNOWN_VALUES[key] : undefined;
  if (known && !known.includes(value)) throw wrong(`${key} is one of ${known.join(', ')}`);
  return operator === '='
    ? (node) => read(node).some((v) => textOf(v) === value)
    : (node) => read(node).every((v) => textOf(v) !== value);
}

function readerOf(key: string): ((n: NodeView) => readonly unknown[]) | undefined {
  if (Object.hasOwn(READ, key)) return READ[key];
  const name = key.startsWith('vars.') ? key.slice('vars.'.length) : '';
  return name === '' ? undefined : (n) => [Object.hasOwn(n.vars, name) ? n.vars[name] : undefined];
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && value !== false;

/** Lists and mappings are compared as JSON. */
const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

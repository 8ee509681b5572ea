import { validateSync } from 'class-validator';
import {
  MusterError,
  nodeName,
  type Clock,
  type IncidentRecord,
  type Networks,
  type NodeRecord,
  type PowerDevice,
  type Reservations,
} from '#contracts';
import { NodeCreateRequest, NodePatchRequest } from '#contracts/rpc/requests.js';
import { toRequest } from '#contracts/rpc/to-request.js';
import { editNode } from '../node-requests/edit-node.js';
import { editHolder, type PreparedEdit } from '../node-requests/edits.js';
import { fleetOf, type RuleFacts } from '../nodes/node-rules.js';
import type { AddressesOf } from '../power/power-place.js';
import { secretsOf } from '../node-requests/power-secrets.js';
import { register } from '../nodes/registration.js';
import type { FileError, FileRow } from './file-row.js';

/** Rows that are checked without a pause. */
const BREATH = 50;

export interface ImportFacts extends Omit<RuleFacts, 'fleet'> {
  nodes: ReadonlyMap<string, NodeRecord>;
  addressesOf?: AddressesOf | undefined;
  held: Reservations['held'];
  /** The node's incident, where one is open. */
  incident(node: string): Pick<IncidentRecord, 'id' | 'phase'> | undefined;
  /** Does this password stand under the key already? */
  isStored: (secret: string, password: string) => boolean;
}

export interface ImportPlan extends PreparedEdit {
  created: string[];
  updated: string[];
  unchanged: string[];
  /** Not empty: nothing of the plan may be done. */
  errors: FileError[];
}

interface Named extends FileRow {
  name: string;
  current?: NodeRecord | undefined;
}

/**
 * What a file makes of the fleet: names that exist are edited by the rules of an edit, others are registered by those
 * of a registration, nodes that it does not name stay. Addresses must be unique in the fleet as it will be, so that a
 * file may swap two. All that is wrong is found, not only the first.
 */
export async function planImport(
  clock: Pick<Clock, 'soon'>,
  rows: readonly FileRow[],
  facts: ImportFacts,
  at: number,
  nonce: string,
): Promise<ImportPlan> {
  const plan: ImportPlan = {
    created: [],
    updated: [],
    unchanged: [],
    errors: [],
    changes: [],
    secrets: {},
    copies: new Map(),
    drops: [],
  };
  const named = namedRows(rows, facts.nodes, plan.errors);
  const others = new Map(facts.nodes);
  for (const { name } of named) others.delete(name);
  const later = fleetOf([...others.values(), ...named.map(withItsPlaces)], facts.addressesOf);
  const rules: RuleFacts = {
    ...facts,
    fleet: { ...later, has: (n) => facts.nodes.has(n) },
  };
  for (const [i, row] of named.entries()) {
    // Checking thousands takes a good part of a second: leases and verdicts do not wait for that long.
    if (i % BREATH === BREATH - 1) await new Promise<void>((resolve) => clock.soon(resolve));
    try {
      if (row.current) planEdit(row, row.current, facts, rules, nonce, plan);
      else planCreation(row, rules, at, nonce, plan);
    } catch (e) {
      plan.errors.push({ line: row.line, node: row.name, message: MusterError.from(e).message });
    }
  }
  plan.errors.sort((a, b) => a.line - b.line);
  return plan;
}

function planCreation(row: Named, rules: RuleFacts, at: number, nonce: string, plan: ImportPlan): void {
  const { name: _made, ...rest } = row.row;
  const { node, secrets } = register(validated(NodeCreateRequest, rest), rules, at, nonce);
  plan.changes.push({ kind: 'create', node });
  Object.assign(plan.secrets, secrets);
  plan.created.push(node.name);
}

function planEdit(
  { name, row }: Named,
  node: NodeRecord,
  facts: ImportFacts,
  rules: RuleFacts,
  nonce: string,
  plan: ImportPlan,
): void {
  const { name: _n, label, serial, enrolled, ...rest } = row;
  const fixed = { label, serial, enrolled };
  for (const [field, value] of Object.entries(fixed))
    if (value !== undefined && value !== node[field as keyof typeof fixed])
      throw new MusterError(
        'BAD_REQUEST',
        `the ${field} of a node stays what it is: ${String(node[field as 'label'])}`,
      );
  const hold = facts.held[name];
  const edit = editNode(
    node,
    validated(NodePatchRequest, rest),
    { ...rules, hold, incident: facts.incident(name), isStored: facts.isStored },
    nonce,
  );
  if (!edit) {
    plan.unchanged.push(name);
    return;
  }
  const holder = editHolder(hold);
  if (holder !== undefined)
    throw new MusterError('NODE_RESERVED', `${name} is held by ${holder}, try again when it has ended`);
  plan.changes.push({ kind: 'edit', name, patch: edit.patch, fields: edit.fields });
  Object.assign(plan.secrets, edit.secrets);
  plan.updated.push(name);
}

function namedRows(rows: readonly FileRow[], nodes: ReadonlyMap<string, NodeRecord>, errors: FileError[]): Named[] {
  const lines = new Map<string, number>();
  return rows.flatMap(({ line, row }) => {
    const { name: given, label, serial } = row;
    const made = typeof label === 'string' && typeof serial === 'string' ? nodeName(label, serial) : undefined;
    const name = typeof given === 'string' ? given : made;
    const say = (message: string): [] => {
      errors.push({ line, ...(name !== undefined && { node: name }), message });
      return [];
    };
    if (name === undefined) return say('a node has a name, or a label and a serial; numbers stand in quotes');
    const current = nodes.get(name);
    if (made !== undefined && made !== name) return say(`name "${name}" is not label-serial: "${made}"`);
    if (!current && made === undefined) return say('there is no such node; one that is to be new has label and serial');
    const before = lines.get(name);
    if (before !== undefined) return say(`it stands on line ${before} already`);
    lines.set(name, line);
    return [{ line, row, name, current }];
  });
}

/** As far as they can be read: what is wrong with them is said where the row itself is checked. */
function withItsPlaces({ name, row, current }: Named): Pick<NodeRecord, 'name' | 'networks' | 'powerLevels'> {
  const networks: Networks = { ...current?.networks };
  const given = row['networks'];
  if (typeof given === 'object' && given !== null)
    for (const [network, value] of Object.entries(given)) {
      const address: unknown = (value as { address?: unknown } | null)?.address;
      if (value === null) delete networks[network];
      else if (typeof address === 'string') networks[network] = { address };
    }
  return { name, networks, powerLevels: devicesOf(row['powerLevels']) ?? current?.powerLevels ?? [] };
}

function devicesOf(given: unknown): PowerDevice[][] | undefined {
  if (given === null) return [];
  if (!Array.isArray(given)) return undefined;
  return given.map((level: unknown) => (Array.isArray(level) ? level.filter(isPlaced) : []));
}

const isPlaced = (x: unknown): x is PowerDevice =>
  typeof x === 'object' &&
  x !== null &&
  ['id', 'driver', 'address'].every((field) => typeof (x as Record<string, unknown>)[field] === 'string') &&
  Object.values((x as { options?: Record<string, unknown> }).options ?? {}).every((v) => typeof v === 'string');

function validated<T extends object>(target: new () => T, row: Record<string, unknown>): T {
  const instance = toRequest(target, row);
  const findings = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
  });
  const sentences = findings.flatMap((f) => Object.values(f.constraints ?? { [f.property]: `${f.property} is wrong` }));
  if (sentences.length > 0) throw new MusterError('BAD_REQUEST', sentences.join('; '));
  return instance;
}

/** Nodes of the rows that bring passwords, where some are stored: only these have to be looked at. */
export function storedSecretsOf(rows: readonly FileRow[], nodes: ReadonlyMap<string, NodeRecord>): string[] {
  return namedRows(rows, nodes, []).flatMap(({ row, current }) =>
    current && JSON.stringify(row['powerLevels'] ?? []).includes('"password"') ? secretsOf(current) : [],
  );
}

import { describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { defaultHostGroups, type NodeRecord } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { exportedRow } from './exported-row.js';
import { planImport, type ImportFacts, type ImportPlan } from './plan-import.js';

const bmc = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1' };
const at = (name: string, address: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { ...o, networks: { management: { address } } });
const a = at('a-1', '10.0.0.1', { vars: { rack: 'r1' }, powerLevels: [[{ ...bmc, secret: 'k' }]] });
const b = at('b-1', '10.0.0.2');
const c = at('c-1', '10.0.0.3');
const facts = (o: Partial<ImportFacts> = {}): ImportFacts => ({
  nodes: new Map([a, b, c].map((n) => [n.name, n])),
  held: {},
  groups: defaultHostGroups,
  offered: () => ['ansible', 'ipmitool'],
  incident: () => undefined,
  isStored: () => false,
  ...o,
});
const fresh = { label: 'd', serial: '1', networks: { management: { address: '10.0.0.9' } } };
const plan = (rows: Record<string, unknown>[], o: Partial<ImportFacts> = {}): Promise<ImportPlan> =>
  planImport(
    systemClock,
    rows.map((row, i) => ({ line: i + 2, row })),
    facts(o),
    1,
    'n1',
  );
const errors = async (rows: Record<string, unknown>[], o: Partial<ImportFacts> = {}) => (await plan(rows, o)).errors;

describe('what a file makes of the fleet', () => {
  it('is nothing where it says what is there', async () => {
    const all = await plan([a, b, c].map(exportedRow));
    expect(all).toMatchObject({ unchanged: ['a-1', 'b-1', 'c-1'], created: [], updated: [], changes: [], errors: [] });
  });

  it('is new nodes, edits of those that exist, and nothing else', async () => {
    const done = await plan([
      { ...fresh, powerLevels: [[{ ...bmc, address: '10.2.0.9', password: 'p' }]] },
      { name: 'a-1', vars: { slots: 4 } },
      { name: 'b-1', failureDomain: 'default' },
    ]);
    expect(done).toMatchObject({ created: ['d-1'], updated: ['a-1'], unchanged: ['b-1'], errors: [] });
    expect(done.secrets).toEqual({ 'power=d-1=bmc=n1': 'p' });
    expect(done.changes).toMatchObject([
      { kind: 'create', node: { name: 'd-1', status: 'Unallocated' } },
      { kind: 'edit', name: 'a-1', patch: { vars: { slots: 4 } }, fields: ['vars'] },
    ]);
    expect(JSON.stringify(done.changes)).not.toContain('password');
  });

  it('may swap two addresses, and may not give one to two', async () => {
    const networks = (address: string) => ({ networks: { management: { address } } });
    expect(
      await errors([
        { name: 'a-1', ...networks('10.0.0.2') },
        { name: 'b-1', ...networks('10.0.0.1') },
      ]),
    ).toEqual([]);
    expect(await errors([{ name: 'a-1', ...networks('10.0.0.3') }])).toEqual([
      { line: 2, node: 'a-1', message: 'node c-1 has the address 10.0.0.3 on management already' },
    ]);
    expect(await errors([fresh, { ...fresh, serial: '2' }])).toEqual([
      { line: 3, node: 'd-2', message: 'node d-1 has the address 10.0.0.9 on management already' },
    ]);
  });

  it('finds all that is wrong, each on its line', async () => {
    const held = { 'b-1': { job: 'job-1', generation: 1, at: 1 } };
    const found = await errors(
      [
        {},
        { name: 'x-1' },
        { ...fresh, name: 'other-1' },
        { ...fresh, rack: 'r1' },
        { label: 'e', serial: 5 },
        { name: 'a-1', enrolled: false },
        { name: 'b-1', vars: { rack: 'r2' } },
        { name: 'c-1', vars: { 'a b': 1 } },
        { name: 'c-1' },
        { label: 'f', serial: '1', networks: { management: 5 } },
        { label: 'g', serial: '1' },
      ],
      { held },
    );
    expect(found.map((e) => `${e.line} ${e.node ?? '-'} ${e.message}`)).toEqual([
      '2 - a node has a name, or a label and a serial; numbers stand in quotes',
      '3 x-1 there is no such node; one that is to be new has label and serial',
      '4 other-1 name "other-1" is not label-serial: "d-1"',
      '5 d-1 property rack should not exist',
      '6 - a node has a name, or a label and a serial; numbers stand in quotes',
      '7 a-1 the enrolled of a node stays what it is: true',
      '8 b-1 b-1 is held by job-1, try again when it has ended',
      expect.stringMatching(/^9 c-1 node c-1: the variable "a b" is refused/),
      '10 c-1 it stands on line 9 already',
      '11 f-1 network management needs an address: an IP address or a host name',
      '12 g-1 networks must be an object',
    ]);
  });

  it('leaves a held node alone where it says nothing new of it', async () => {
    const held = { 'a-1': { job: 'job-1', generation: 1, at: 1 }, 'b-1': { claim: 'claim-1', generation: 1, at: 1 } };
    expect(await plan([exportedRow(a), { name: 'b-1', vars: { rack: 'r2' } }], { held })).toMatchObject({
      unchanged: ['a-1'],
      updated: ['b-1'],
      errors: [],
    });
  });

  it('gives no power device to two nodes, and lets two swap theirs', async () => {
    const d = at('d-1', '10.0.0.4', { powerLevels: [[{ ...bmc, address: '10.2.0.4', secret: 'k4' }]] });
    const nodes = { nodes: new Map([a, d].map((n) => [n.name, n])) };
    const with4 = { powerLevels: [[{ ...bmc, address: '10.2.0.4', password: 'p' }]] };
    const refused = await errors([{ name: 'a-1', ...with4 }], nodes);
    expect(refused).toMatchObject([{ line: 2, node: 'a-1', message: expect.stringContaining('where node d-1') }]);
    const swapped = [
      { name: 'a-1', ...with4 },
      { name: 'd-1', powerLevels: [[{ ...bmc, password: 'p' }]] },
    ];
    expect(await errors(swapped, nodes)).toEqual([]);
    const both = [
      { ...fresh, ...with4 },
      { name: 'a-1', ...with4 },
    ];
    expect(await errors(both, { nodes: new Map([[a.name, a]]) })).toHaveLength(2);
  });
});

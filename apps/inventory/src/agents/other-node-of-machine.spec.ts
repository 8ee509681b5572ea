import { describe, expect, it } from 'vitest';
import {
  boardSerial,
  defaultHostGroups,
  identityOf,
  isSerial,
  machineOf,
  MusterError,
  nodeName,
  NodeStatuses,
  type NodeRecord,
} from '#contracts';
import { runs, SEED, seeded } from '#contracts/testing/chance.js';
import { fleetOf } from '../nodes/node-rules.js';
import { aNode } from '../testing/fixtures.js';
import { enrolledNode, type EnrolRequest } from './enrolment.js';
import { otherNodesOf, refuseSecondNode } from './other-node-of-machine.js';

const key = (c: string): string => `ssh-ed25519 ${c.repeat(40)}`;
const [mine, other] = [machineOf('1'), machineOf('2')];

/** The machine of `was-SN1` under another name, as it shows itself there. */
const renamed = (o: Partial<EnrolRequest> = {}): EnrolRequest => ({
  label: 'now',
  serial: 'SN1',
  networks: { management: { address: '10.0.0.99' } },
  productSerial: 'SN1',
  machine: mine,
  hostKeys: [key('a')],
  ...o,
});
const was = (o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode('was-SN1', {
    status: 'Allocated',
    state: 'Disappeared',
    machine: mine,
    productSerial: 'SN1',
    sshHostKeys: [key('a')],
    ...o,
  });
const sut = (r: EnrolRequest, node: NodeRecord, current?: NodeRecord) => () =>
  refuseSecondNode(r, current, current ? [node, current] : [node]);
const foundBy = (r: EnrolRequest, node: NodeRecord, current?: NodeRecord): string | undefined =>
  otherNodesOf(r, current, [node])[0]?.by;

describe('a machine that is a node already is refused as another one', () => {
  it('by its machine id, by the serial number of its mainboard, or by one of its ssh host keys', () => {
    const { machine: _m, ...noId } = renamed();
    const elsewise = { serial: 'SN7', productSerial: 'SN7', machine: other, hostKeys: [key('b')] };
    expect(foundBy(renamed(elsewise), was())).toBeUndefined();
    expect(foundBy(renamed({ ...elsewise, machine: mine }), was())).toBe('machine id');
    expect(foundBy(renamed({ ...elsewise, productSerial: 'sn1' }), was())).toBe('serial number');
    expect(foundBy(renamed({ ...elsewise, hostKeys: [key('b'), key('a')] }), was())).toBe('ssh host keys');
    expect(foundBy({ ...noId, hostKeys: [] }, was())).toBe('serial number');
    // What neither of the two shows is not the same.
    const { machine: _n, productSerial: _p, sshHostKeys: _k, ...bare } = was({ serial: 'SN8', name: 'was-SN8' });
    const { machine: _o, productSerial: _q, hostKeys: _l, ...silent } = renamed();
    expect(foundBy(silent, bare)).toBeUndefined();
  });

  it('and is told which node, by what, and what to do', () => {
    expect(sut(renamed(), was())).toThrow(
      'the machine that would be now-SN1 is node was-SN1 already, which has its machine id: where it serves, muster node decommission was-SN1 before; delete that one first (muster node delete was-SN1); where they are two machines, one is a copy: give it an /etc/machine-id of its own',
    );
    const board = { label: 'was', serial: 'SN2', productSerial: 'SN2' };
    expect(sut(renamed(board), was())).toThrow(
      'already, which has its machine id: where it serves, muster node decommission was-SN1 before; delete that one first (muster node delete was-SN1); where its mainboard was exchanged, muster node replace was-SN1 SN2 instead;',
    );
    expect(sut(renamed({ ...board, productSerial: 'SN1', machine: other }), was())).not.toThrow('mainboard was');
    let refused: unknown;
    try {
      sut(renamed(), was())();
    } catch (e) {
      refused = e;
    }
    expect(MusterError.from(refused)).toMatchObject({
      code: 'ALREADY_EXISTS',
      facts: { node: 'was-SN1', by: 'machine id' },
    });
  });

  it('whatever that node is: also one that is out would be commissioned again', () => {
    for (const status of NodeStatuses)
      for (const state of ['Unknown', 'Discovered', 'Disappeared'] as const)
        expect(sut(renamed(), was({ status, state }))).toThrow('is node was-SN1 already');
    const awaited = was({ status: 'Unallocated', state: 'Unknown', enrolled: false, awaited: true });
    expect(sut(renamed(), awaited)).toThrow('delete that one first');
  });

  it('by the node that it is the most surely, where several share something with it', () => {
    const { machine: _m, ...earlier } = was();
    const sharing = [
      { ...earlier, name: 'c-1', productSerial: 'SN9' },
      { ...earlier, name: 'b-1', sshHostKeys: [] },
      { ...earlier, name: 'a-1', sshHostKeys: [] },
      was({ name: 'd-1', productSerial: 'SN9' }),
    ];
    const names = (nodes: NodeRecord[]) => otherNodesOf(renamed(), undefined, nodes).map((o) => o.node.name);
    expect(names(sharing)).toEqual(['d-1', 'a-1', 'b-1', 'c-1']);
    expect(names([...sharing].reverse())).toEqual(['d-1', 'a-1', 'b-1', 'c-1']);
    expect(() => refuseSecondNode(renamed(), undefined, sharing)).toThrow('is node d-1 already');
  });

  it('installed anew under a new name, by its mainboard, which is known by what it shows and not by a name', () => {
    const anew = renamed({ machine: other, hostKeys: [key('b')] });
    expect(foundBy(anew, was())).toBe('serial number');
    // One that an earlier Muster has enrolled, and a host with its agent.
    const { productSerial: _p, ...before } = was();
    expect(foundBy(anew, before)).toBe('serial number');
    const { productSerial: _q, ...earlier } = anew;
    expect(foundBy(earlier, before)).toBe('serial number');
    const typed = was({ name: 'was-12', serial: '12' });
    const anotherBefore = aNode('now-12', { machine: machineOf('3') });
    expect(foundBy(anew, typed)).toBe('serial number');
    expect(foundBy({ ...anew, serial: '12', productSerial: 'SN2' }, typed, anotherBefore)).toBeUndefined();
    const { productSerial: _r, ...nothing } = typed;
    expect(foundBy({ ...earlier, serial: '12' }, nothing, anotherBefore)).toBeUndefined();
    expect(foundBy({ ...anew, productSerial: '12' }, was({ serial: '12', productSerial: 'SN3' }))).toBeUndefined();
  });

  it('but not by a serial number that names no machine', () => {
    for (const serial of ['Default-string', 'To-be-filled-by-O.E.M.', '0000000', 'None']) {
      const copy = renamed({ serial, machine: other, hostKeys: [key('b')] });
      delete copy.productSerial;
      const { productSerial: _p, ...old } = was({ serial });
      expect(foundBy(copy, old)).toBeUndefined();
    }
  });
});

describe('a node is enrolled again', () => {
  it('as itself, also after its machine was installed anew', () => {
    const again = renamed({ label: 'was' });
    expect(sut(again, was(), was())).not.toThrow();
    expect(sut({ ...again, machine: other, hostKeys: [key('b')] }, was(), was())).not.toThrow();
  });

  it('although another one shares something with it, where this very installation is on its record', () => {
    const current = aNode('now-SN1', { status: 'Allocated', machine: mine });
    const shares = was({ machine: other });
    expect(sut(renamed(), shares, current)).not.toThrow();
    expect(sut(renamed({ machine: machineOf('3') }), shares, current)).toThrow('is node was-SN1 already');
    for (const status of NodeStatuses) expect(sut(renamed(), was(), { ...current, status })).not.toThrow();
  });

  it('for the first time as the node that somebody has put on record for it, unless its installation is another', () => {
    const byHand = aNode('now-SN1', { status: 'Unallocated' });
    expect(sut(renamed(), was({ machine: other }), byHand)).not.toThrow();
    expect(sut(renamed(), was(), byHand)).toThrow('is node was-SN1 already, which has its machine id');
  });

  it('not while it is waited for beside another that has its machine id, as a crash may leave two', () => {
    const leftover: Partial<NodeRecord> = { enrolled: false, awaited: true, agentKeys: ['U1'] };
    const [one, two] = [was(leftover), aNode('now-SN1', { ...leftover, machine: mine })];
    expect(sut(renamed(), one, two)).toThrow('is node was-SN1 already, which has its machine id');
    expect(sut(renamed({ label: 'was' }), two, one)).toThrow('is node now-SN1 already, which has its machine id');
    // The others may have been there before: its first enrolment, asked for again.
    expect(sut(renamed(), was({ machine: other }), two)).not.toThrow();
  });

  it('for what else it shows only until its agent is issued, and where it shows its installation', () => {
    const byHand = aNode('now-SN1', { status: 'Unallocated' });
    const shares = was({ machine: other });
    const { machine: _m, ...noId } = renamed();
    expect(foundBy(noId, shares, byHand)).toBe('serial number');
    expect(foundBy({ ...noId, productSerial: 'SN7' }, shares, byHand)).toBe('ssh host keys');
    expect(foundBy(renamed(), shares, { ...byHand, agentKeys: ['U1'] })).toBe('serial number');
  });
});

interface Machine {
  board: string | undefined;
  machineId: string;
  hostKey: string;
  label: string;
}

/** Machines that are renamed, installed anew, let in, taken out of service and forgotten, in any order. */
class Floor {
  readonly nodes = new Map<string, NodeRecord>();
  /** The truth. */
  readonly owners = new Map<string, Machine>();
  readonly machines: Machine[];
  readonly tally = { accepted: 0, refused: 0, otherwise: 0 };
  private next = 0;

  constructor(private readonly chance: () => number) {
    this.machines = ['SNA', 'SNB', 'Default string', ''].map((board) => ({
      board: boardSerial(board),
      machineId: this.fresh(),
      hostKey: key(this.letter()),
      label: 'h1',
    }));
  }

  step(): void {
    const machine = this.one(this.machines);
    const kind = this.chance();
    if (kind < 0.2) machine.label = this.one(['h1', 'h2', 'h3']);
    else if (kind < 0.3) this.installAnew(machine);
    else if (kind < 0.45) this.change();
    else this.enrol(machine);
  }

  private installAnew(m: Machine): void {
    m.machineId = this.fresh();
    // Where the board says nothing and the keys are new, it is another machine to everybody.
    if (m.board !== undefined) m.hostKey = key(this.letter());
  }

  private change(): void {
    const node = this.one([...this.nodes.values()]);
    if (node === undefined) return;
    const kind = this.chance();
    if (kind < 0.6) this.nodes.delete(node.name);
    else if (kind < 0.75) this.nodes.set(node.name, { ...node, status: 'Decommissioned' });
    else this.nodes.set(node.name, { ...node, status: 'Allocated', state: this.one(['Discovered', 'Disappeared']) });
  }

  private enrol(m: Machine): void {
    const serial = m.board ?? m.machineId;
    const name = nodeName(m.label, serial);
    const current = this.nodes.get(name);
    const r: EnrolRequest = {
      label: m.label,
      serial,
      networks: current?.networks ?? { management: { address: `10.1.${this.next >> 8}.${this.next++ & 255}` } },
      machine: machineOf(m.machineId),
      hostKeys: [m.hostKey],
      ...(m.board !== undefined && { productSerial: m.board }),
    };
    const live = this.others(name, m);
    const nodes = [...this.nodes.values()];
    const facts = { nodes, fleet: fleetOf(nodes), groups: defaultHostGroups, offered: () => ['ansible'] };
    try {
      const node = enrolledNode(r, current, facts, 1) ?? current;
      if (node === undefined) throw new Error('no record');
      if (live.length > 0) throw new Error(`${name} was let in beside ${live.join()}`);
      this.nodes.set(name, node);
      this.owners.set(name, m);
      this.tally.accepted++;
    } catch (e) {
      const { code, facts: why, message } = MusterError.from(e);
      if (code !== 'ALREADY_EXISTS') throw e;
      // A node that is heard keeps its machine and its keys: those rules are another spec's.
      if (why['by'] === undefined) return void this.tally.otherwise++;
      if (!live.includes(String(why['node']))) throw new Error(`not true: ${message}`, { cause: e });
      this.tally.refused++;
    }
  }

  /** Names of the other nodes that are the machine. */
  private others(name: string, m: Machine): string[] {
    return [...this.nodes.keys()].filter((n) => n !== name && this.owners.get(n) === m);
  }

  private one<T>(of: readonly T[]): T {
    return of[Math.floor(this.chance() * of.length)] as T;
  }
  private fresh(): string {
    return (++this.next).toString(16).padStart(32, 'a');
  }
  private letter(): string {
    return (++this.next).toString(36).padStart(4, 'A');
  }
}

describe('whatever happens to machines', () => {
  it('none is ever two nodes, and none is refused for a node that is not it', () => {
    const total = { accepted: 0, refused: 0, otherwise: 0 };
    for (let i = 0; i < runs(200); i++) {
      const floor = new Floor(seeded(SEED + i));
      for (let step = 0; step < 100; step++) floor.step();
      for (const k of ['accepted', 'refused', 'otherwise'] as const) total[k] += floor.tally[k];
    }
    expect(Math.min(total.accepted, total.refused, total.otherwise)).toBeGreaterThan(runs(200));
  });
});

/** Fillers as firmware dresses them: in a name only the filler is left. */
const DRESSED = [
  '(none)',
  '<Unknown>',
  '[Empty]',
  'N A',
  'Default  string',
  '.0000',
  '/0123456789',
  '*NULL*',
  '"None"',
];

describe('the serial number of a mainboard', () => {
  it('is as it stands in a name, and none where its maker has filled in nothing', () => {
    expect(boardSerial('VMware-56 4d 1c/9e\n')).toBe('VMware-56-4d-1c-9e');
    for (const text of ['', ' ', 'Default string', 'To be filled by O.E.M.', '00000', '///', 'N/A', ...DRESSED])
      expect([text, boardSerial(text)]).toEqual([text, undefined]);
    for (const text of ['Default-string', 'To-be-filled-by-O.E.M.', 'n-a', 'None']) expect(isSerial(text)).toBe(false);
  });

  it('is what names the host, which is else known by the id of its installation', () => {
    const machineId = '3d1219c7c4c5404aaa1f6d2a48adfda4';
    const serial = (productSerial: string) => identityOf({ hostname: 'h', productSerial, machineId }).serial;
    expect(serial('VMware-56 4d')).toBe('VMware-56-4d');
    for (const text of DRESSED) expect([text, serial(text)]).toEqual([text, machineId]);
  });
});

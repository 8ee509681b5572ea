import { describe, expect, it } from 'vitest';
import {
  closedPhases,
  defaultHostGroups,
  IncidentPhases,
  MusterError,
  type NodePatchRequest,
  type NodeRecord,
} from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { editNode, patched, type EditFacts, type NodeEdit } from './edit-node.js';
import { fleetOf } from '../nodes/node-rules.js';

const bmc = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1', username: 'admin' };
const stored = { ...bmc, secret: 'power=a-1=bmc=old' };
const node = aNode('a-1', {
  status: 'Allocated',
  hostGroup: 'service-worker',
  networks: { management: { address: '10.0.0.1' }, backend: { address: '10.1.0.1' } },
  powerLevels: [[stored]],
  vars: { rack: 'r1', slots: 4 },
});
const other = aNode('b-1', { networks: { management: { address: '10.0.0.2' } } });
const facts = (o: Partial<EditFacts> = {}): EditFacts => ({
  fleet: fleetOf([node, other]),
  groups: [...defaultHostGroups, { name: 'spare', role: 'none' }, { name: 'workers-2', role: 'worker' }],
  offered: () => ['ansible', 'ipmitool'],
  isStored: (secret, password) => secret === stored.secret && password === 's3cret',
  ...o,
});
const edit = (patch: unknown, o: Partial<NodeRecord> = {}, f: Partial<EditFacts> = {}): NodeEdit | undefined =>
  editNode({ ...node, ...o }, patch as NodePatchRequest, facts(f), 'n1');
const after = (patch: unknown, o: Partial<NodeRecord> = {}): NodeRecord => {
  const now = { ...node, ...o };
  const done = editNode(now, patch as NodePatchRequest, facts(), 'n1');
  return done ? patched(now, done.patch) : now;
};
const refusal = (patch: unknown, o: Partial<NodeRecord> = {}, f: Partial<EditFacts> = {}): string => {
  try {
    edit(patch, o, f);
  } catch (e) {
    const { code, message } = MusterError.from(e);
    return `${code} ${message}`;
  }
  return 'ok';
};

describe('editing a node', () => {
  it('gives it no power device where another node has its own, and edits one that has such a device all the same', () => {
    const taken = aNode('b-1', { powerLevels: [[{ ...bmc, address: '10.2.0.2' }]], networks: {} });
    const fleet = fleetOf([node, taken]);
    const patch = { powerLevels: [[{ ...bmc, address: '10.2.0.2', password: 'p' }]] };
    expect(refusal(patch, {}, { fleet })).toContain(
      'ALREADY_EXISTS power device bmc is at 10.2.0.2:623, where node b-1',
    );
    const shared = { powerLevels: [[{ ...stored, address: '10.2.0.2' }]] };
    expect(refusal({ vars: { rack: 'r2' } }, shared, { fleet })).toBe('ok');
    expect(refusal({ powerLevels: [[{ ...bmc, password: 'p' }]] }, shared, { fleet })).toBe('ok');
  });

  it('merges variables and networks, and takes away what is null', () => {
    expect(after({ vars: { rack: 'r2', slots: null } }).vars).toEqual({ rack: 'r2' });
    expect(after({ networks: { backend: null, storage: { address: '10.3.0.1' } } }).networks).toEqual({
      management: { address: '10.0.0.1' },
      storage: { address: '10.3.0.1' },
    });
    expect(after({ hostGroup: null }, { status: 'Unallocated' }).hostGroup).toBeUndefined();
    expect(after({ failureDomain: null, fencing: null }, { failureDomain: 'x', fencing: 'manual' })).toMatchObject({
      failureDomain: 'default',
      fencing: 'auto',
    });
    const pinned = { sshHostKeys: ['ssh-ed25519 AAAA'] };
    expect(after({ sshHostKeys: null }, pinned)).not.toHaveProperty('sshHostKeys');
  });

  it('names what it changes, and is none where nothing changes', () => {
    expect(edit({ vars: { slots: 5 }, fencing: 'manual', failureDomain: 'default' })?.fields).toEqual([
      'vars',
      'fencing',
    ]);
    const same = { vars: { slots: 4 }, networks: { management: { address: '10.0.0.1' } }, powerLevels: [[bmc]] };
    expect(edit(same)).toBeUndefined();
    expect(edit({ ...same, powerLevels: [[{ ...bmc, password: 's3cret' }]] })).toBeUndefined();
    expect(edit({})).toBeUndefined();
  });

  it('keeps the stored password of a device that comes without one, and gives a new one a key of its own', () => {
    const pdu = { id: 'pdu', driver: 'ipmitool', address: '10.2.0.9', password: 'p' };
    expect(after({ powerLevels: [[{ ...bmc, username: 'root' }], [pdu]] }).powerLevels).toEqual([
      [{ ...stored, username: 'root' }],
      [{ id: 'pdu', driver: 'ipmitool', address: '10.2.0.9', secret: 'power=a-1=pdu=n1' }],
    ]);
    const done = edit({ powerLevels: [[{ ...bmc, password: 'new' }]] });
    expect(done?.secrets).toEqual({ 'power=a-1=bmc=n1': 'new' });
    expect(JSON.stringify(done?.patch)).not.toContain('"new"');
    expect(after({ powerLevels: null }).powerLevels).toEqual([]);
  });

  it('sends no stored password to another place: there it must be given anew', () => {
    for (const elsewhere of [{ address: '10.2.0.5' }, { port: 6230 }])
      expect(() => edit({ powerLevels: [[{ ...bmc, ...elsewhere }]] })).toThrow('give its password too');
    const moved = { ...bmc, address: '10.2.0.5', password: 's3cret' };
    expect(after({ powerLevels: [[moved]] }).powerLevels).toEqual([
      [{ ...stored, address: '10.2.0.5', secret: 'power=a-1=bmc=n1' }],
    ]);
  });

  it('keeps the password that the record has when it is written, not the one that was read', () => {
    const done = edit({ powerLevels: [[{ ...bmc, username: 'root' }]] });
    const meanwhile = { ...node, powerLevels: [[{ ...stored, secret: 'power=a-1=bmc=newer' }]] };
    expect(patched(meanwhile, done!.patch).powerLevels[0]?.[0]?.secret).toBe('power=a-1=bmc=newer');
  });

  it.each([
    ['a host group that nobody knows', { hostGroup: 'foo' }, 'HOST_GROUP_INVALID'],
    ['no networks', { networks: null }, 'BAD_REQUEST'],
    ['no management network', { networks: { management: null } }, 'BAD_REQUEST'],
    ['a network without an address', { networks: { backend: {} } }, 'BAD_REQUEST'],
    ['an address that is a command', { networks: { backend: { address: 'x; reboot' } } }, 'BAD_REQUEST'],
    ['the address of another node', { networks: { management: { address: '10.0.0.2' } } }, 'ALREADY_EXISTS'],
    ['a fifth network', { networks: { c: { address: 'c' }, d: { address: 'd' }, e: { address: 'e' } } }, 'BAD_REQUEST'],
    ['a variable that runs a command', { vars: { ansible_ssh_common_args: '-o ProxyCommand=x' } }, 'BAD_REQUEST'],
    ['a variable that is no name', { vars: { 'a b': 1 } }, 'BAD_REQUEST'],
    ['keys that it should pin', { sshHostKeys: ['ssh-ed25519 AAAA'] }, 'BAD_REQUEST'],
    ['two devices of one name', { powerLevels: [[bmc, bmc]] }, 'BAD_REQUEST'],
    ['a driver that there is not', { provisionDriver: 'magic' }, 'DRIVER_UNKNOWN'],
    ['a power driver that there is not', { powerLevels: [[{ ...bmc, driver: 'exec', password: 'p' }]] }, 'BAD_REQUEST'],
  ])('is refused with %s', (_what, patch, code) => {
    expect(refusal(patch)).toMatch(new RegExp(`^${code} `));
  });

  it('is refused with a driver that nobody offers', () => {
    const added = { powerLevels: [[{ ...bmc, password: 'p' }]] };
    const nobody = { offered: () => ['ansible'] };
    expect(refusal(added, { powerLevels: [] }, nobody)).toMatch(/^DRIVER_UNAVAILABLE /);
  });

  it('leaves the drivers alone that the node had before, offered or not', () => {
    expect(refusal({ vars: { a: 1 } }, {}, { offered: () => undefined })).toBe('ok');
    expect(refusal({ powerLevels: [[{ ...bmc, username: 'root' }]] }, {}, { offered: () => [] })).toBe('ok');
  });

  it('moves a node that is set up to another role by maintenance only', () => {
    expect(refusal({ hostGroup: 'service-master' })).toMatch(/^ILLEGAL_TRANSITION a-1 is Allocated: .* maintenance/);
    expect(refusal({ hostGroup: null })).toMatch(/^ILLEGAL_TRANSITION/);
    expect(refusal({ hostGroup: 'workers-2' })).toBe('ok');
    expect(refusal({ hostGroup: 'service-master' }, { status: 'Unallocated' })).toBe('ok');
    expect(refusal({ hostGroup: 'service-master' }, { status: 'Decommissioned' })).toBe('ok');
  });

  it('does not pull from under a job what it rests on, and nothing from under an import', () => {
    const hold = { job: 'job-1', generation: 1, at: 1 };
    for (const patch of [
      { hostGroup: 'workers-2' },
      { networks: { backend: null } },
      { powerLevels: [] },
      { powerLevels: [[{ ...bmc, password: 'new' }]] },
    ])
      expect(refusal(patch, {}, { hold })).toMatch(/^NODE_RESERVED a-1 is held by job-1/);
    expect(refusal({ provisionDriver: 'ssh' }, {}, { hold, offered: () => ['ssh'] })).toMatch(/^NODE_RESERVED/);
    expect(refusal({ vars: { a: 1 }, fencing: 'manual' }, {}, { hold })).toBe('ok');
    expect(refusal({ vars: { a: 1 } }, {}, { hold: { edit: 'edit-1', generation: 1, at: 1 } })).toMatch(
      /^NODE_RESERVED/,
    );
    expect(refusal({ powerLevels: [] }, {}, { hold: { claim: 'c-1', generation: 1, at: 1 } })).toBe('ok');
  });

  it('does not change the power devices under the fencer', () => {
    const incident = { id: 'i-1', phase: 'fencing' as const };
    for (const patch of [{ powerLevels: [] }, { networks: { backend: null } }])
      expect(refusal(patch, {}, { incident })).toMatch(/^NODE_BUSY a-1 has an open incident: i-1 is fencing/);
    expect(refusal({ vars: { a: 1 }, fencing: 'manual' }, {}, { incident })).toBe('ok');
    const blocked = { id: 'i-1', phase: 'suppressed' as const, gate: 'CAP' as const };
    expect(refusal({ powerLevels: [] }, {}, { incident: blocked })).toContain(
      'i-1 is blocked by CAP; its networks and driver stay until it is closed, its power devices until it is blocked by a gate or failed',
    );
  });

  it('corrects the power devices of an incident that does not go on, and only while no command may take effect', () => {
    const patch = { powerLevels: [[{ ...bmc, address: '10.0.9.9', password: 'new' }]] };
    for (const phase of IncidentPhases.filter((p) => !closedPhases.includes(p))) {
      const incident = { id: 'i-1', phase };
      const may = phase === 'suppressed' || phase === 'failed';
      expect([phase, refusal(patch, {}, { incident, powerAtRest: true })]).toEqual([
        phase,
        may ? 'ok' : expect.stringMatching(/^NODE_BUSY/),
      ]);
      expect(refusal(patch, {}, { incident, powerAtRest: false })).toMatch(/^NODE_BUSY .* 16 s have passed/);
      expect(refusal({ networks: { backend: null } }, {}, { incident, powerAtRest: true })).toMatch(/^NODE_BUSY/);
    }
  });

  it('corrects those whose proof of off is held, since it may be another machine’s', () => {
    const patch = { powerLevels: [[{ ...bmc, address: '10.0.9.9', password: 'new' }]] };
    const incident = { id: 'i-1', phase: 'fenced' as const, collateral: { at: 1, nodes: [{ node: 'a-2' }] } };
    expect(refusal(patch, {}, { incident, powerAtRest: true })).toBe('ok');
    expect(refusal(patch, {}, { incident, powerAtRest: false })).toMatch(/^NODE_BUSY .*proof of off is held/);
    const over = { ...incident, phase: 'recovering' as const };
    expect(refusal(patch, {}, { incident: over, powerAtRest: true })).toMatch(/^NODE_BUSY/);
  });
});

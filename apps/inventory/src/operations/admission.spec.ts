import { describe, expect, it } from 'vitest';
import { defaultHostGroups, MusterError, type JobKind, type NodeRecord } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { admit, MOST_QUEUED, type AdmissionFacts, type AdmissionRequest } from './admission.js';

const facts = (nodes: NodeRecord[], o: Partial<AdmissionFacts> = {}): AdmissionFacts => ({
  nodes: new Map(nodes.map((n) => [n.name, n])),
  held: {},
  groups: defaultHostGroups,
  job: () => undefined,
  workloadsOn: () => [],
  straysOn: () => [],
  quarantined: () => undefined,
  queuedJobs: 0,
  provisionDrivers: ['ansible'],
  ...o,
});
const request = (o: Partial<AdmissionRequest>): AdmissionRequest => ({
  kind: 'commission',
  nodes: [],
  addresses: [],
  ...o,
});

function refusal(r: Partial<AdmissionRequest>, f: AdmissionFacts): { code: string; message: string } {
  try {
    admit(request(r), f);
  } catch (e) {
    const { code, message } = MusterError.from(e);
    return { code, message };
  }
  throw new Error('it was admitted');
}

const at = (name: string, address: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { ...o, networks: { management: { address } } });
const master = at('host1-SN1', '127.0.0.1', { status: 'Allocated', hostGroup: 'service-master' });
const free = at('host2-SN2', '127.0.0.2');
const worker = at('host3-SN3', '127.0.0.3', { status: 'Allocated', hostGroup: 'service-worker' });

describe('admission, in the words of the operations contract', () => {
  const cases: [string, Partial<AdmissionRequest>, AdmissionFacts, string, string][] = [
    ['no nodes', {}, facts([master]), 'BAD_REQUEST', 'atleast one node should be specified'],
    [
      'an unknown node',
      { nodes: ['host1-SN1', 'nope'] },
      facts([master]),
      'NODE_UNKNOWN',
      `node with name or address "nope" doesn't exists`,
    ],
    [
      'nodes that are not heard',
      { nodes: ['a-1', 'b-1', 'host2-SN2'] },
      facts([aNode('a-1', { state: 'Disappeared' }), aNode('b-1', { state: 'Unknown' }), free]),
      'NOT_DISCOVERED',
      'one or more nodes are not in discovered state, please check their network reachability. Non-discovered nodes: [a-1 b-1]',
    ],
    [
      'no host group',
      { nodes: ['host2-SN2'] },
      facts([free]),
      'HOST_GROUP_INVALID',
      'invalid or empty host-group specified: ""',
    ],
    [
      'a wrong host group',
      { nodes: ['host2-SN2'], hostGroup: 'foo' },
      facts([free]),
      'HOST_GROUP_INVALID',
      'invalid or empty host-group specified: "foo"',
    ],
    [
      'an update to a wrong group',
      { kind: 'maintenance', nodes: ['host1-SN1'], hostGroup: 'bar' },
      facts([master]),
      'HOST_GROUP_INVALID',
      'invalid host-group specified: "bar"',
    ],
    [
      'a worker without a master',
      { nodes: ['host2-SN2'], hostGroup: 'service-worker' },
      facts([free]),
      'ROLE_RULE',
      'Cannot commission a worker node without existence of a master node in the cluster, make sure atleast one master node is commissioned.',
    ],
    [
      'an update that leaves no master',
      { kind: 'maintenance', nodes: ['host1-SN1'], hostGroup: 'service-worker' },
      facts([master, worker]),
      'ROLE_RULE',
      'Updating these nodes as worker will result in no master node in the cluster, make sure atleast one node is commissioned as master.',
    ],
    [
      'a decommission that leaves workers only',
      { kind: 'decommission', nodes: ['host1-SN1'] },
      facts([master, worker]),
      'ROLE_RULE',
      'decommissioning the specified node(s) will leave only worker nodes in the cluster, make sure all worker nodes are decommissioned before last master node.',
    ],
    [
      'a transition, from Unallocated to Cancelled',
      { kind: 'decommission', nodes: ['host2-SN2'] },
      facts([free]),
      'ILLEGAL_TRANSITION',
      `failed to update host2-SN2's state in inventory, Error: transition from "Unallocated" to "Cancelled" is not allowed`,
    ],
    [
      'a transition, from Unallocated to Maintenance',
      { kind: 'maintenance', nodes: ['host2-SN2'], hostGroup: 'service-master' },
      facts([free]),
      'ILLEGAL_TRANSITION',
      `failed to update host2-SN2's state in inventory, Error: transition from "Unallocated" to "Maintenance" is not allowed`,
    ],
    [
      'a transition, from Allocated to Provisioning',
      { nodes: ['host1-SN1'], hostGroup: 'service-master' },
      facts([master]),
      'ILLEGAL_TRANSITION',
      `failed to update host1-SN1's state in inventory, Error: transition from "Allocated" to "Provisioning" is not allowed`,
    ],
    [
      'too many waiting jobs',
      { nodes: ['host2-SN2'], hostGroup: 'service-master' },
      facts([free], { queuedJobs: MOST_QUEUED + 1 }),
      'TOO_MANY_JOBS',
      'too many queued jobs',
    ],
    [
      'a discover of a known address',
      { kind: 'discover', addresses: ['127.0.0.1', '127.0.0.9'] },
      facts([master]),
      'ALREADY_EXISTS',
      'one or more nodes already exist with the specified management addresses. Existing nodes: [host1-SN1:127.0.0.1]',
    ],
    [
      'a driver that nobody offers',
      { nodes: ['host2-SN2'], hostGroup: 'service-master' },
      facts([free], { provisionDrivers: ['ssh', 'x'] }),
      'DRIVER_UNAVAILABLE',
      'no live provisioner offers driver "ansible" of host2-SN2; on offer: [ssh x]',
    ],
  ];
  it.each(cases)('refuses %s', (_what, r, f, code, message) => {
    expect(refusal(r, f)).toEqual({ code, message });
  });

  it('refuses a reserved node naming the job and the nodes, and says how the text begins', () => {
    const held = { 'host2-SN2': { job: 'job-9', generation: 1, at: 1 } };
    const f = facts([master, free], { held, job: () => ({ kind: 'commission', status: 'Running' }) });
    const { code, message } = refusal({ nodes: ['host2-SN2'], hostGroup: 'service-master' }, f);
    expect(code).toBe('NODE_RESERVED');
    expect(message).toMatch(/^there is already an active job/);
    expect(message).toContain('job-9');
    expect(message).toContain('host2-SN2');
  });

  it('refuses a cleanup under workloads and names them', () => {
    const f = facts([master], { workloadsOn: () => ['db', 'web'] });
    for (const kind of ['decommission', 'maintenance', 'resetup'] as const)
      expect(refusal({ kind, nodes: ['host1-SN1'] }, f)).toMatchObject({
        code: 'WORKLOADS_PRESENT',
        message: expect.stringContaining('host1-SN1: db web'),
      });
    // Its rollback cleans up.
    const commission = { kind: 'commission' as const, nodes: ['host2-SN2'], hostGroup: 'service-master' };
    expect(refusal(commission, facts([free], { workloadsOn: () => ['db'] })).code).toBe('WORKLOADS_PRESENT');
    // Of a node that serves already, its status is what the contract names.
    const served = { ...commission, nodes: ['host1-SN1'] };
    expect(refusal(served, facts([master], { workloadsOn: () => ['db'] })).code).toBe('ILLEGAL_TRANSITION');
    expect(admit(request({ kind: 'check', nodes: ['host1-SN1'] }), f).nodes).toEqual(['host1-SN1']);
  });

  it('refuses a cleanup under what runs there and belongs elsewhere, also with force, which could not move it', () => {
    const f = facts([master, free], { straysOn: (node) => (node === 'host1-SN1' ? ['db'] : []) });
    for (const force of [false, true])
      for (const kind of ['decommission', 'maintenance', 'resetup'] as const)
        expect(refusal({ kind, nodes: ['host1-SN1'], force }, f)).toMatchObject({
          code: 'WORKLOADS_PRESENT',
          message: expect.stringContaining('end them there by hand first. Workloads: [host1-SN1: db]'),
        });
    const commission = { kind: 'commission' as const, nodes: ['host2-SN2'], hostGroup: 'service-master' };
    expect(admit(request(commission), f).nodes).toEqual(['host2-SN2']);
    expect(admit(request({ kind: 'check', nodes: ['host1-SN1'] }), f).nodes).toEqual(['host1-SN1']);
  });

  it('with force accepts it, and names what has to move first', () => {
    const f = facts([master], { workloadsOn: () => ['web', 'db'] });
    const r = request({ kind: 'decommission', nodes: ['host1-SN1'], force: true });
    expect(admit(r, f)).toEqual({ nodes: ['host1-SN1'], moving: ['db', 'web'] });
    expect(admit({ ...r, kind: 'check' }, f)).toEqual({ nodes: ['host1-SN1'] });
    expect(admit(r, { ...f, workloadsOn: () => [] })).toEqual({ nodes: ['host1-SN1'] });
  });

  it('names the entries of a discover that are no addresses, and runs nothing', () => {
    expect(refusal({ kind: 'discover', addresses: ['10.0.0.1', 'x y', '$(id)'] }, facts([]))).toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('[x y $(id)]'),
    });
    expect(refusal({ kind: 'discover' }, facts([])).code).toBe('BAD_REQUEST');
  });

  it.each([
    ['a Disappeared node', { state: 'Disappeared' }],
    ['a node whose agent never came', { state: 'Unknown', enrolled: false, awaited: true }],
  ] as const)('lets %s be discovered again, and holds it meanwhile', (_which, o) => {
    const gone = at('host2-SN2', '127.0.0.2', o);
    const r = request({ kind: 'discover', addresses: ['127.0.0.2', '127.0.0.8'] });
    expect(admit(r, facts([gone]))).toEqual({ nodes: ['host2-SN2'] });
  });

  it('leaves known addresses of a discover out where that is asked, unless there is no other', () => {
    const r = request({ kind: 'discover', addresses: ['127.0.0.1', '127.0.0.8'], skipKnown: true });
    expect(admit(r, facts([master, free]))).toEqual({
      nodes: [],
      addresses: ['127.0.0.8'],
      skipped: { '127.0.0.1': 'host1-SN1' },
    });
    expect(refusal({ ...r, addresses: ['127.0.0.1', '127.0.0.2'] }, facts([master, free])).code).toBe('ALREADY_EXISTS');
  });

  it('finds a node by its management address, and takes each once', () => {
    const r = request({ nodes: ['host2-SN2', '127.0.0.2'], hostGroup: 'service-master' });
    expect(admit(r, facts([free]))).toEqual({ nodes: ['host2-SN2'] });
  });

  it('asks in the order of the contract: each earlier check speaks before a later one', () => {
    const broken = aNode('z-1', { state: 'Disappeared' });
    const held = { 'host1-SN1': { job: 'job-9', generation: 1, at: 1 } };
    const all = facts([master, worker, broken], { held, queuedJobs: 1000, provisionDrivers: [] });
    const codes: string[] = [];
    let f = all;
    const r: Partial<AdmissionRequest> = { kind: 'maintenance', nodes: ['host1-SN1', 'z-1', 'nope'], hostGroup: 'bar' };
    const ask = (): void => void codes.push(refusal(r, f).code);
    ask();
    r.nodes = ['host1-SN1', 'z-1'];
    ask();
    r.nodes = ['host1-SN1'];
    ask();
    r.hostGroup = 'service-worker';
    ask();
    r.hostGroup = 'service-master';
    ask();
    f = { ...f, held: {}, workloadsOn: () => ['w'] };
    ask();
    f = { ...f, workloadsOn: () => [], quarantined: () => 'power' };
    ask();
    f = { ...f, quarantined: () => undefined };
    ask();
    f = { ...f, queuedJobs: 0 };
    ask();
    expect(codes).toEqual([
      'NODE_UNKNOWN',
      'NOT_DISCOVERED',
      'HOST_GROUP_INVALID',
      'ROLE_RULE',
      'NODE_RESERVED',
      'WORKLOADS_PRESENT',
      'NODE_BUSY',
      'TOO_MANY_JOBS',
      'NO_WORKERS',
    ]);
  });

  it('sees what an admitted job will do before the records follow', () => {
    const held = { 'host1-SN1': { job: 'job-1', kind: 'decommission' as const, generation: 1, at: 1 } };
    const r = { nodes: ['host2-SN2'], hostGroup: 'service-worker' };
    expect(admit(request(r), facts([master, free])).nodes).toEqual(['host2-SN2']);
    expect(refusal(r, facts([master, free], { held })).code).toBe('ROLE_RULE');
    const coming = {
      'host2-SN2': { job: 'job-2', kind: 'commission' as const, hostGroup: 'service-worker', generation: 1, at: 1 },
    };
    const leave: Partial<AdmissionRequest> = { kind: 'decommission', nodes: ['host1-SN1'] };
    expect(admit(request(leave), facts([master, free])).nodes).toEqual(['host1-SN1']);
    expect(refusal(leave, facts([master, free], { held: coming })).code).toBe('ROLE_RULE');
  });

  describe('a re-setup', () => {
    const of = (n: number, o: Partial<NodeRecord> = {}): NodeRecord =>
      at(`m-${n}`, `127.0.1.${n}`, { status: 'Allocated', hostGroup: 'service-master', failureDomain: `d${n}`, ...o });
    const held = (node: string, kind: JobKind = 'resetup'): AdmissionFacts['held'] => ({
      [node]: { job: 'job-1', kind, generation: 1, at: 1 },
    });
    const resetup = (...nodes: string[]): Partial<AdmissionRequest> => ({ kind: 'resetup', nodes });
    const domain = { hostGroup: 'service-worker', failureDomain: 'rack-1' };

    it('of a master waits while another one is cleaned up, wherever that stands', () => {
      const masters = [of(1), of(2), of(3), worker];
      expect(refusal(resetup('m-2'), facts(masters, { held: held('m-1') })).code).toBe('ROLE_RULE');
      expect(refusal(resetup('m-1', 'm-2'), facts(masters)).code).toBe('ROLE_RULE');
      expect(admit(request(resetup('m-2')), facts(masters)).nodes).toEqual(['m-2']);
      expect(admit(request(resetup('m-2')), facts(masters, { held: held('m-1', 'check') })).nodes).toEqual(['m-2']);
    });

    it('of a master waits while no other one is there to serve, and goes on where there is no other at all', () => {
      const away = of(2, { state: 'Disappeared' });
      expect(refusal(resetup('m-1'), facts([of(1), away, worker])).code).toBe('ROLE_RULE');
      expect(refusal(resetup('m-1'), facts([of(1), of(2), worker], { held: held('m-2', 'decommission') })).code).toBe(
        'ROLE_RULE',
      );
      expect(admit(request(resetup('m-1')), facts([of(1), away])).nodes).toEqual(['m-1']);
      expect(admit(request(resetup('m-1')), facts([of(1), worker])).nodes).toEqual(['m-1']);
    });

    it('and a maintenance take masters down at once by an operator’s word only, which the system does not have', () => {
      const masters = [of(1), of(2), of(3), worker];
      for (const kind of ['resetup', 'maintenance'] as const) {
        const both = { kind, nodes: ['m-1', 'm-2'] };
        expect(refusal(both, facts(masters))).toMatchObject({
          code: 'ROLE_RULE',
          message: expect.stringMatching(/masters .* one at a time: \[m-1 m-2\].*--at-once/) as string,
        });
        expect(admit(request({ ...both, atOnce: true }), facts(masters)).nodes).toEqual(['m-1', 'm-2']);
        expect(refusal({ ...both, atOnce: true, needs: () => true }, facts(masters)).code).toBe('ROLE_RULE');
        for (const other of ['resetup', 'maintenance'] as const)
          expect(refusal({ kind, nodes: ['m-2'] }, facts(masters, { held: held('m-1', other) })).code).toBe(
            'ROLE_RULE',
          );
        const away = of(2, { state: 'Disappeared' });
        expect(refusal({ kind, nodes: ['m-1'] }, facts([of(1), away, worker])).code).toBe('ROLE_RULE');
        expect(admit(request({ kind, nodes: ['m-1'], atOnce: true }), facts([of(1), away, worker])).nodes).toHaveLength(
          1,
        );
      }
    });

    it('waits, and a maintenance does not, for another worker of its failure domain', () => {
      const workers = [of(1, domain), of(2, domain), of(3, domain), master];
      const update = (...nodes: string[]): Partial<AdmissionRequest> => ({ kind: 'maintenance', nodes });
      expect(admit(request(update('m-1', 'm-2', 'm-3')), facts(workers)).nodes).toHaveLength(3);
      expect(admit(request(update('m-2')), facts(workers, { held: held('m-1') })).nodes).toEqual(['m-2']);
      expect(admit(request(resetup('m-2')), facts(workers, { held: held('m-1', 'maintenance') })).nodes).toEqual([
        'm-2',
      ]);
    });

    it('of another node waits for one of the same role in its failure domain only', () => {
      const workers = [of(1, domain), of(2, domain), of(3, { ...domain, failureDomain: 'rack-2' }), master];
      expect(refusal(resetup('m-2'), facts(workers, { held: held('m-1') })).code).toBe('ROLE_RULE');
      expect(admit(request(resetup('m-3')), facts(workers, { held: held('m-1') })).nodes).toEqual(['m-3']);
      expect(admit(request(resetup('m-2')), facts(workers, { held: held('host1-SN1') })).nodes).toEqual(['m-2']);
    });
  });

  describe('a test of a service', () => {
    const test: Partial<AdmissionRequest> = { kind: 'service-test', nodes: ['host2-SN2'], service: 'web' };

    it('takes one node on which nothing is set up', () => {
      expect(admit(request(test), facts([master, free]))).toEqual({ nodes: ['host2-SN2'] });
      const left = { ...free, status: 'Decommissioned' as const };
      expect(admit(request(test), facts([master, left]))).toEqual({ nodes: ['host2-SN2'] });
    });

    it('refuses every other node in one line that says what to do', () => {
      for (const status of ['Allocated', 'Maintenance', 'Provisioning', 'Cancelled'] as const)
        expect(refusal(test, facts([master, { ...free, status }]))).toEqual({
          code: 'ILLEGAL_TRANSITION',
          message: `a service is tested on a node on which nothing is set up: host2-SN2 is ${status}; take it out first: muster nodes decommission host2-SN2 --wait`,
        });
      const busy = facts([master, free], { workloadsOn: () => ['db'] });
      expect(refusal(test, busy)).toMatchObject({ code: 'WORKLOADS_PRESENT', message: expect.stringContaining('db') });
      expect(refusal({ ...test, force: true }, busy)).toMatchObject({ code: 'BAD_REQUEST' });
      expect(refusal(test, facts([free], { quarantined: () => 'just switched' })).code).toBe('NODE_BUSY');
    });

    it('needs the name of a service, and one node', () => {
      expect(refusal({ kind: 'service-test', nodes: ['host2-SN2'] }, facts([free])).code).toBe('BAD_REQUEST');
      const two = { ...test, nodes: ['host2-SN2', 'host4-SN4'] };
      expect(refusal(two, facts([free, at('host4-SN4', '127.0.0.4')])).code).toBe('BAD_REQUEST');
    });
  });

  it('lets workers go while their master is away', () => {
    const away = { ...master, state: 'Disappeared' as const };
    expect(admit(request({ kind: 'decommission', nodes: ['host3-SN3'] }), facts([away, worker])).nodes).toEqual([
      'host3-SN3',
    ]);
  });

  it('lets the system pass a claim, but only to a node that still needs its job', () => {
    const claimed = { 'host1-SN1': { claim: 'c', generation: 1, at: 1 } };
    const check = { kind: 'check' as const, nodes: ['host1-SN1'] };
    const f = facts([master], { held: claimed });
    expect(refusal(check, f).code).toBe('NODE_RESERVED');
    expect(admit(request({ ...check, needs: (n) => n === master }), f).nodes).toEqual(['host1-SN1']);
    expect(refusal({ ...check, needs: () => false }, f).code).toBe('REVISION_CONFLICT');
  });

  it('lets the system clean up under what is assigned there and certainly does not run, and under nothing else', () => {
    const resetup = { kind: 'resetup' as const, nodes: ['host1-SN1'], needs: () => true };
    const f = facts([master], { workloadsOn: () => ['db', 'web'] });
    const isAbsent = (...absent: string[]) => ({
      isAbsent: (n: string, w: string) => n === 'host1-SN1' && absent.includes(w),
    });
    expect(admit(request({ ...resetup, ...isAbsent('db', 'web') }), f)).toEqual({ nodes: ['host1-SN1'] });
    expect(refusal({ ...resetup, ...isAbsent('db') }, f)).toMatchObject({
      code: 'WORKLOADS_PRESENT',
      message: expect.stringContaining('host1-SN1: web'),
    });
    expect(refusal(resetup, f).code).toBe('WORKLOADS_PRESENT');
  });
});

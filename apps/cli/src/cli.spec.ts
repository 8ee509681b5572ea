import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shareAccount } from '#bus/testing/shared-account.js';
import { MusterUnderTest, type Outcome } from './testing/muster.js';

const node = (label: string, serial: string, address: string): object => ({
  name: `${label}-${serial}`,
  label,
  serial,
  hostGroup: 'service-master',
  networks: { management: { address } },
  status: 'Allocated',
  prevStatus: 'Provisioning',
  state: 'Discovered',
  prevState: 'Discovered',
  inService: true,
  reasons: [],
});

/** As `clusterctl` printed a node, and below that the service state. */
const printed = (name: string, label: string, serial: string, address: string, ...service: string[]): string =>
  [
    'Inventory State',
    `   name: ${name}`,
    '   prev_state: Discovered',
    '   prev_status: Provisioning',
    '   state: Discovered',
    '   status: Allocated',
    'Monitoring State',
    `   label: ${label}`,
    `   management_address: ${address}`,
    `   serial_number: ${serial}`,
    'Configuration State',
    '   host_group: service-master',
    `   inventory_name: ${name}`,
    '   inventory_vars:',
    `       node_addr: ${address}`,
    `       node_name: ${name}`,
    `   ssh_address: ${address}`,
    'Service State',
    ...service,
  ]
    .map((line) => `${name}: ${line}\n`)
    .join('') + '\n';

const job = (status: string, results: object = {}, error = ''): object => ({
  id: 'j1',
  desc: 'commissionEvent: nodes:[a-1 b-2] extra-vars: {}',
  status,
  task: 'site.yml',
  error,
  results,
  nodes: ['a-1', 'b-2'],
});

describe('muster', () => {
  const sut = new MusterUnderTest();
  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => {
    sut.received.length = 0;
    sut.on('GET /v1/workloads', { items: [] });
  });

  it('prints nodes in a pipe line for line as the old program did, then whether they are in service', async () => {
    const out = {
      ...node('host3', 'SN3', '127.0.0.3'),
      inService: false,
      reasons: [
        { code: 'NO_POWER_WORKER', detail: 'nobody offers exec' },
        { code: 'CORDONED', detail: 'cordoned by ada: disk swap' },
        { code: 'NO_POWER_WORKER', detail: 'nobody offers ipmitool' },
      ],
      cordon: { reason: 'disk swap', by: 'ada', at: 1, until: 1_000, drain: true },
      remaining: ['db1', 'web'],
      maintenance: { reason: 'fenced', at: 1, incident: 'i1' },
      job: 'j1',
      claim: 'c1',
    };
    sut.on('GET /v1/nodes', { items: [node('host1', 'SN1', '127.0.0.1'), out] });
    sut.on('GET /v1/nodes/host3-SN3', out);
    const { code, stdout, stderr } = await sut.run(['nodes', 'get']);
    const host3 = printed(
      'host3-SN3',
      'host3',
      'SN3',
      '127.0.0.3',
      '   claim: c1',
      '   cordon:',
      '       by: ada',
      '       drain: true',
      '       reason: disk swap',
      '       until: 1970-01-01T00:00:01.000Z',
      '   in_service: false',
      '   job: j1',
      '   maintenance:',
      '       incident: i1',
      '       reason: fenced',
      '   reasons:',
      '       CORDONED: cordoned by ada: disk swap',
      '       NO_POWER_WORKER: nobody offers exec; nobody offers ipmitool',
      '   remaining: db1 web',
    );
    expect(stdout).toBe(printed('host1-SN1', 'host1', 'SN1', '127.0.0.1', '   in_service: true') + host3);
    expect([code, stderr]).toEqual([0, '']);
    expect((await sut.call(['node', 'get', 'host3-SN3'])).stdout).toBe(host3);
  });

  it('asks for the names it was given, page by page, and answers JSON where that is wanted', async () => {
    let page = 0;
    sut.on('GET /v1/nodes', (_: unknown, res: ServerResponse) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ items: [{ name: `n${page}` }], ...(page++ === 0 && { next: 'c 1' }) }));
    });
    const { stdout } = await sut.call(['nodes', 'get', 'a-1', 'not a name', '--json']);
    expect(JSON.parse(stdout)).toEqual({ items: [{ name: 'n0' }, { name: 'n1' }] });
    expect(sut.received.map((r) => r.url)).toEqual([
      '/v1/nodes?names=a-1&limit=1000',
      '/v1/nodes?names=a-1&limit=1000&cursor=c%201',
    ]);
  });

  it('starts an operation and says nothing more in a pipe', async () => {
    sut.on('POST /v1/operations', { job: 'j1' }, 202);
    const args = ['nodes', 'commission', 'a-1', 'b-2', '-g', 'service-worker', '-e', '{"a":{"b":1}}'];
    expect(await sut.run(args, { MUSTER_TOKEN: 't0ken' })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(sut.last('POST')?.body).toEqual({
      kind: 'commission',
      nodes: ['a-1', 'b-2'],
      hostGroup: 'service-worker',
      extraVars: { a: { b: 1 } },
    });
    expect(sut.last('POST')?.headers.authorization).toBe('Bearer t0ken');
  });

  it('touches no node with workloads without --yes when nobody can be asked', async () => {
    sut.on('GET /v1/workloads', { items: [{ name: 'db1', assignment: { node: 'a-1', generation: 1 } }] });
    sut.on('POST /v1/operations', { job: 'j1' }, 202);
    const refused = await sut.call(['node', 'decommission', 'a-1']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^muster: decommission a-1: workloads run there \(db1 on a-1\).*--yes.*\n$/);
    expect(sut.last('POST')).toBeUndefined();
    expect((await sut.call(['node', 'decommission', 'a-1', '--yes', '--force'])).code).toBe(0);
    expect(sut.last('POST')?.body).toEqual({ kind: 'decommission', nodes: ['a-1'], force: true });
  });

  it('says what the server refused in one line', async () => {
    sut.on('POST /v1/operations', { code: 'NODE_RESERVED', detail: 'there is already an active job: j0' }, 409);
    expect(await sut.call(['nodes', 'maintenance', 'a-1'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'muster: there is already an active job: j0\n',
    });
  });

  it('says in one line that no server is there', async () => {
    for (const url of ['127.0.0.1:1', 'http://127.0.0.1:1', 'unix:/nowhere/api.sock']) {
      const { code, stdout, stderr } = await sut.call(['nodes', 'get', '--url', url]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toBe(`muster: no Muster at ${url}: nothing listens there; is it running? (--url, MUSTER_URL)\n`);
    }
  });

  it.each([
    [['frobnicate']],
    [['nodes', 'get', '--odd']],
    [['nodes', 'commission']],
    [['node', 'cordon', 'a-1']],
    [['node', 'cordon', 'a-1', '--reason', 'x', '--for', 'soon']],
    [['nodes', 'commission', 'a-1', '-e', '[1]']],
    [['fencing', 'set', 'maybe']],
    [['--url', 'http://', 'status']],
    [['status', '-o', 'xml']],
    [['status', '-o', 'yaml', '--json']],
    [['node', 'power-device', 'test']],
  ])('takes %j for a wrong command line: exit 2, and asks no server', async (args) => {
    const { code, stdout, stderr } = await sut.call(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--help');
    expect(stderr).toMatch(/^(muster|error): .*\nUsage: muster .*\n$/);
    expect(sut.received).toEqual([]);
  });

  it('prints a job as the old program did, and follows its log to the end', async () => {
    sut.on('GET /v1/jobs/last', job('Complete'));
    sut.on('GET /v1/jobs/j1', job('Errored', {}, 'site failed'));
    sut.on('GET /v1/jobs/j1/log', (_: unknown, res: ServerResponse) => {
      res.setHeader('content-type', 'text/plain');
      res.write('PLAY [all]\n');
      res.end('ok: [a-1]\n');
    });
    expect((await sut.call(['job', 'get', 'last'])).stdout).toBe(
      '\nDescription: commissionEvent: nodes:[a-1 b-2] extra-vars: {}\nStatus: Complete\nError: \nLogs:\n    PLAY [all]\n    ok: [a-1]\n\n',
    );
    const followed = await sut.call(['job', 'get', 'last', '-f']);
    expect(followed).toEqual({
      code: 1,
      stdout: 'PLAY [all]\nok: [a-1]\n',
      stderr: 'muster: job j1 failed: site failed\n',
    });
  });

  it('follows events over an end of the stream without a hole', async () => {
    let connection = 0;
    sut.on('GET /v1/events', (_: unknown, res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const seq = ++connection;
      const event = { seq, kind: 'in-service', key: `n-${seq}`, at: 0, source: 's', data: { node: `n-${seq}` } };
      res.write(`: hello\n\nid: ${seq}\nevent: in-service\ndata: ${JSON.stringify(event)}\n\n`);
      if (connection === 1) res.end();
    });
    const second = sut.printed('n-2');
    const running = sut.run(['events', '-f', '--kind', 'in-service']);
    await second;
    sut.interrupt();
    const { stdout, stderr, code } = await running;
    expect(stdout).toBe('1970-01-01T00:00:00.000Z in-service n-1\n1970-01-01T00:00:00.000Z in-service n-2\n');
    expect(stderr).toBe('muster: the stream ended; trying again\n');
    expect(code).toBe(130);
    expect(sut.received.map((r) => [r.url, r.headers['last-event-id']])).toEqual([
      ['/v1/events?kind=in-service', undefined],
      ['/v1/events?kind=in-service', '1'],
    ]);
  });

  it('writes a folder for each of several control hosts, and shows the admin token once', async () => {
    const dir = join(mkdtempSync(join(tmpdir(), 'muster-cli-')), 'prod');
    try {
      const three = 'ctl1=10.0.0.1,ctl2=10.0.0.2,ctl3=10.0.0.3';
      const refused = [
        [['--hosts', 'ctl1=10.0.0.1,ctl2=10.0.0.2'], 'no safer than 1'],
        [['--hosts', three, '--host', 'x'], '--host does not go with --hosts'],
        [['--hosts', three, '--nats-listen', '10.0.0.1:4222'], '--nats-listen does not go with --hosts'],
        [['--at', '/srv/muster'], '--at goes with --hosts'],
      ] as const;
      for (const [options, why] of refused) {
        const { code, stderr } = await sut.call(['init', dir, ...options]);
        expect([code, stderr.split('\n').length, existsSync(dir)]).toEqual([1, 2, false]);
        expect(stderr).toContain(why);
      }
      const first = await sut.run(['init', dir, '--hosts', three, '--at', '/srv/muster', '--nats-store', '/srv/nats']);
      expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
      const on = (host: string, file: string): string => readFileSync(join(dir, 'hosts', host, file), 'utf8');
      expect(on('ctl3', 'nats.conf')).toContain('store_dir: "/srv/nats"');
      expect(on('ctl3', 'nats.conf')).toContain('cert_file: "/srv/muster/tls/server.pem"');
      expect(on('ctl3', 'host.env')).toContain('MUSTER_HOST=ctl3');
      expect(on('ctl3', 'compose.yml')).toContain('device: /srv/muster');
      const again = await sut.call(['init', dir, '--hosts', three]);
      expect([again.code, again.stdout]).toEqual([0, '']);
      const renewed = await sut.run(['tls', 'renew', '--dir', dir]);
      expect([renewed.code, renewed.stdout.match(/valid until/g)?.length]).toEqual([0, 3]);
      expect(existsSync(join(dir, 'tls', 'server.pem'))).toBe(false);
      expect(renewed.stderr).toContain('reload muster-control-nats');
      // As an earlier Muster wrote it.
      const host = (file: string): string => join(dir, 'hosts', 'ctl3', file);
      renameSync(host('tls-key/server.key'), host('tls/server.key'));
      const moved = await sut.call(['tls', 'renew', '--dir', dir]);
      expect(moved.stderr).toContain('delete tls/server.key there');
      expect(moved.stderr).toContain('systemctl restart muster-control-nats');
      expect([existsSync(host('tls-key/server.key')), existsSync(host('tls/server.key'))]).toEqual([true, false]);
    } finally {
      rmSync(join(dir, '..'), { recursive: true, force: true });
    }
  });

  it('leaves what was written for control hosts that went as it was, and says so', async () => {
    const dir = join(mkdtempSync(join(tmpdir(), 'muster-cli-')), 'prod');
    const store = join(dir, '..', 'nats');
    const init = (hosts: string): Promise<Outcome> => sut.call(['init', dir, '--hosts', hosts, '--nats-store', store]);
    const gone = `ctl2, ctl3: no control host any more, and left as it was; delete ${dir}/hosts/ctl2 ${dir}/hosts/ctl3\n`;
    try {
      const three = 'ctl1=10.0.0.1,ctl2=10.0.0.2,ctl3=10.0.0.3';
      const first = await init(three);
      expect([first.code, first.stderr]).toEqual([0, expect.not.stringMatching(/any more|revoked/)]);
      const of = (host: string): string => readFileSync(join(dir, 'hosts', host, 'tls', 'server.pem'), 'utf8');
      const before = ['ctl1', 'ctl2', 'ctl3'].map(of);
      const again = await init('ctl1=10.0.0.1');
      expect([again.code, again.stderr]).toEqual([0, expect.stringContaining(gone)]);
      // No NATS has its store here.
      expect(again.stderr).toContain('which agents were revoked is not to be read here');
      const renewed = await sut.call(['tls', 'renew', '--dir', dir]);
      expect([renewed.code, renewed.stdout.match(/valid until/g)?.length]).toEqual([0, 1]);
      expect(renewed.stderr).toContain(gone);
      expect(['ctl1', 'ctl2', 'ctl3'].map((host, i) => of(host) === before[i])).toEqual([false, true, true]);
      expect((await init(three)).stderr).not.toContain('any more');
      // Where it has, they are.
      const { account } = JSON.parse(readFileSync(join(dir, 'keys', 'operator.key'), 'utf8')) as { account: string };
      const conf = readFileSync(join(dir, 'hosts', 'ctl1', 'nats-accounts.conf'), 'utf8');
      mkdirSync(join(store, 'accounts'), { recursive: true });
      writeFileSync(
        join(store, 'accounts', `${account}.jwt`),
        new RegExp(`^ {2}${account}: (\\S+)$`, 'm').exec(conf)?.[1] ?? '',
      );
      expect((await init(three)).stderr).not.toContain('revoked');
    } finally {
      rmSync(join(dir, '..'), { recursive: true, force: true });
    }
  });

  it('separates the services of an earlier Muster where it is told to, once, and says what is to be done', async () => {
    const dir = join(mkdtempSync(join(tmpdir(), 'muster-cli-')), 'c');
    const init = async (...options: string[]): Promise<string> => {
      const { code, stderr } = await sut.call(['init', dir, ...options]);
      expect(code).toBe(0);
      return stderr;
    };
    try {
      expect(await init()).not.toMatch(/separate-services|start NATS anew/);
      await shareAccount(dir);
      expect(await init('--agent', 'b-2')).toContain('with --separate-services gives them their own');
      expect(await init('--separate-services')).toContain('stop the services, start NATS anew, start the services');
      expect(await init('--separate-services')).not.toMatch(/start NATS anew|share one/);
    } finally {
      rmSync(join(dir, '..'), { recursive: true, force: true });
    }
  });

  it('writes a new cluster’s files, readable by their owner only', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-cli-'));
    try {
      const options = ['--cluster', 'lab', '--nats-listen', '0.0.0.0:4333', '--agent', 'a-1'];
      const { code, stdout } = await sut.run(['init', join(dir, 'c'), ...options]);
      expect([code, stdout]).toEqual([0, `written: ${join(dir, 'c')}\n`]);
      for (const file of ['nats.conf', 'muster.yaml', 'creds/agent=a-1.json', 'keys/datagram.key']) {
        expect(existsSync(join(dir, 'c', file))).toBe(true);
        expect(statSync(join(dir, 'c', file)).mode & 0o777).toBe(0o600);
      }
      const conf = readFileSync(join(dir, 'c', 'nats.conf'), 'utf8');
      expect(conf).toContain('listen: "0.0.0.0:4333"');
      const more = await sut.call(['init', join(dir, 'c'), '--agent', 'b-2']);
      expect([more.code, more.stdout]).toEqual([0, `written: ${join(dir, 'c')}\n`]);
      expect(more.stderr).toContain('users only');
      expect(readFileSync(join(dir, 'c', 'nats.conf'), 'utf8')).toBe(conf);
      expect(existsSync(join(dir, 'c', 'creds/agent=b-2.json'))).toBe(true);
      const wrong = await sut.call(['init', join(dir, 'd'), '--nats-listen', 'nowhere']);
      expect([wrong.code, existsSync(join(dir, 'd'))]).toEqual([1, false]);
      expect(wrong.stderr.split('\n')).toHaveLength(2);
      const store = join(dir, 'state', 'nats');
      const apart = await sut.call(['init', join(dir, 'e'), '--nats-store', store]);
      expect(apart.code).toBe(0);
      for (const file of ['nats.conf', 'muster.yaml'])
        expect(readFileSync(join(dir, 'e', file), 'utf8')).toContain(store);
      const moved = await sut.call(['init', join(dir, 'e'), '--nats-store', join(dir, 'elsewhere')]);
      expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('store_dir in nats.conf')]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

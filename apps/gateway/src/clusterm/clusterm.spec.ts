import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request as httpRequest } from 'node:http';
import { defaultSettings } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { job, node } from '../testing/records.js';

describe('the clusterm surface', () => {
  let sut: GatewayUnderTest;
  const settings = defaultSettings('spec');

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    const nodes = [node('host1', 'SN1'), node('host2', 'SN2'), node('host3', 'SN3')].map((n) => ({
      ...n,
      hostGroup: 'service-master',
    }));
    sut.answer('inventory.nodes.list', ({ names }) => ({
      items: names === undefined ? nodes : nodes.filter((n) => names.includes(n.name)),
    }));
    sut.answer('inventory.settings.get', () => ({ ...settings, revision: 1 }));
    sut.answer('inventory.jobs.get', ({ id }) => job(id, { status: 'Complete' }));
    sut.answer('inventory.operations.submit', () => ({ job: 'j1' }));
    sut.answer('inventory.globals.put', ({ extraVars = {} }) => ({ extraVars }));
    sut.answer('inventory.monitor.event', ({ nodes: seen }) => ({ nodes: seen.map((n) => `${n.label}-${n.serial}`) }));
  });
  afterAll(() => sut.stop());

  it.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON;charset=UTF-8'],
    ['application/vnd.api+json'],
    ['application/json-patch+json ; charset=utf-8'],
  ])('takes a body of the JSON media type %s', async (type) => {
    const answer = await sut.send('POST', '/globals', '{"extra_vars":{"a":1}}', { 'content-type': type });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });

  it.each([['text/plain'], ['application/jsonp'], ['text/json'], ['application/x-www-form-urlencoded'], ['json']])(
    'knows no route for a body of media type %s',
    async (type) => {
      const before = sut.asked.length;
      const answer = await sut.send('POST', '/globals', '{"extra_vars":{"a":1}}', { 'content-type': type });
      expect([answer.status, await answer.text()]).toEqual([404, '404 page not found\n']);
      expect(sut.asked.length).toBe(before);
    },
  );

  it('takes names in the body of a GET and in the query, and leaves unknown ones out', async () => {
    const names = '{"nodes":["host2-SN2","nope"]}';
    const inBody = await new Promise<string>((resolve, reject) => {
      const request = httpRequest(
        `${sut.url}/info/nodes`,
        { method: 'GET', headers: { 'content-length': names.length } },
        (res) => {
          let text = '';
          res.setEncoding('utf8').on('data', (more: string) => (text += more));
          res.on('end', () => resolve(text));
        },
      ).on('error', reject);
      request.end(names);
    });
    expect(Object.keys(JSON.parse(inBody) as object)).toEqual(['host2-SN2']);
    for (const query of ['nodes=host1-SN1,host3-SN3', 'nodes=host1-SN1&nodes=host3-SN3'])
      expect(Object.keys((await (await sut.get(`/info/nodes?${query}`)).json()) as object)).toEqual([
        'host1-SN1',
        'host3-SN3',
      ]);
  });

  it('starts an operation with an empty answer, from a list or from a name in the path', async () => {
    for (const path of ['/commission/nodes', '/commission/node/host1-SN1']) {
      const body = { Nodes: ['host1-SN1'], HOST_GROUP: 'service-master', extra_vars: '{"nap":4}', monitor_event: null };
      const answer = await sut.send('POST', path, body);
      expect([answer.status, await answer.text(), answer.headers.get('content-length')]).toEqual([200, '', '0']);
      expect(sut.last('inventory.operations.submit')).toEqual({
        by: 'local',
        from: '127.0.0.1',
        kind: 'commission',
        nodes: ['host1-SN1'],
        hostGroup: 'service-master',
        extraVars: { nap: 4 },
      });
    }
    for (const path of [
      '/update/nodes',
      '/maintenance/nodes',
      '/update/node/host1-SN1',
      '/maintenance/node/host1-SN1',
    ]) {
      await sut.send('POST', path, { nodes: ['host1-SN1'], host_group: 'g', extra_vars: { a: 1 } });
      expect(sut.last('inventory.operations.submit')).toEqual({
        by: 'local',
        from: '127.0.0.1',
        kind: 'maintenance',
        nodes: ['host1-SN1'],
        hostGroup: 'g',
        extraVars: { a: 1 },
        // A list of masters is updated at once there, as it always was.
        atOnce: true,
      });
    }
    for (const path of ['/decommission/nodes', '/decommission/node/host1-SN1']) {
      await sut.send('POST', path, { nodes: ['host1-SN1'], host_group: 'is not looked at' });
      expect(sut.last('inventory.operations.submit')).toEqual({
        by: 'local',
        from: '127.0.0.1',
        kind: 'decommission',
        nodes: ['host1-SN1'],
      });
    }
  });

  it('takes the addresses of a discover by each of their names, and one from the path', async () => {
    for (const name of ['addresses', 'addrs', 'addressess', 'Addrs']) {
      await sut.send('POST', '/discover/nodes', { [name]: ['10.0.0.8', 'fe80::1'], nodes: null, extra_vars: '' });
      expect(sut.last('inventory.operations.submit')).toEqual({
        by: 'local',
        from: '127.0.0.1',
        kind: 'discover',
        addresses: ['10.0.0.8', 'fe80::1'],
        extraVars: {},
      });
    }
    for (const address of ['10.0.0.9', 'fe80::2', 'no%20address']) {
      await sut.send('POST', `/discover/node/${address}`, {});
      expect(sut.last('inventory.operations.submit')).toEqual({
        by: 'local',
        from: '127.0.0.1',
        kind: 'discover',
        addresses: [decodeURIComponent(address)],
      });
    }
  });

  it('takes what the old client sends beside its request', async () => {
    const body =
      '{"nodes":["host1-SN1",null],"addrs":null,"extra_vars":null,"HOST_GROUP":null,"x":{"y":[1]},"monitor_event":{"name":"","nodes":null}}';
    expect((await sut.send('POST', '/decommission/nodes', body)).status).toBe(200);
    expect(sut.last('inventory.operations.submit')).toEqual({
      by: 'local',
      from: '127.0.0.1',
      kind: 'decommission',
      nodes: ['host1-SN1', ''],
    });
  });

  it('moves workloads away first where the configuration says so, since its clients cannot ask for it', async () => {
    settings.compat.force = true;
    for (const [path, force] of [
      ['/decommission/nodes', true],
      ['/update/nodes', true],
      ['/commission/nodes', undefined],
    ] as const) {
      await sut.send('POST', path, { nodes: ['host1-SN1'], host_group: 'g' });
      expect(sut.last('inventory.operations.submit')?.force).toBe(force);
    }
    settings.compat.force = false;
    await sut.send('POST', '/decommission/nodes', { nodes: ['host1-SN1'] });
    expect(sut.last('inventory.operations.submit')?.force).toBeUndefined();
    await sut.send('POST', '/decommission/nodes', { nodes: ['host1-SN1'], force: true });
    expect(sut.last('inventory.operations.submit')?.force).toBe(true);
  });

  it('leaves the globals alone when none are sent, and clears them for a blank text', async () => {
    const before = sut.asked.length;
    expect((await sut.send('POST', '/globals', {})).status).toBe(200);
    expect(sut.asked.length).toBe(before);
    await sut.send('POST', '/globals', { extra_vars: ' ' });
    expect(sut.last('inventory.globals.put')).toEqual({ by: 'local', from: '127.0.0.1', extraVars: {} });
  });

  it('hands every node of an event on, whatever the case of its name', async () => {
    const nodes = [
      { label: 'new', serial: 'A', addr: '127.0.0.50' },
      { label: 'new', serial: 'B', addr: '127.0.0.51' },
    ];
    const answer = await sut.send('POST', '/monitor/event', { monitor_event: { name: 'dIscovered', nodes } });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(sut.last('inventory.monitor.event')).toEqual({ by: 'local', from: '127.0.0.1', event: 'discovered', nodes });
    const empty = await sut.send('POST', '/monitor/event', { monitor_event: { name: 'discovered', nodes: [] } });
    expect(empty.status).toBe(500);
  });

  it('shows a job with its log as the old clients read it', async () => {
    await sut.bus.appendLog('j1', 'PLAY [all]\nok: [host1-SN1]\n');
    await sut.bus.endLog('j1');
    expect(await (await sut.get('/info/job/j1')).json()).toMatchObject({
      desc: 'commissionEvent: nodes:[host1-SN1] extra-vars:{} host-group:service-master',
      task: 'site.yml',
      status: 'Complete',
      error: '',
      logs: ['PLAY [all]', 'ok: [host1-SN1]'],
      id: 'j1',
    });
    const log = await sut.get('/info/logs/j1');
    expect(log.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await log.text()).toBe('PLAY [all]\nok: [host1-SN1]\n');
  });

  it('shows the newest 5,000 lines of a long log, and says how many there are before them', async () => {
    const line = (n: number): string => `line ${n}\n`;
    const numbers = [...Array(12_345).keys()];
    for (let from = 0; from < numbers.length; from += 1000)
      await sut.bus.appendLog(
        'j2',
        numbers
          .slice(from, from + 1000)
          .map(line)
          .join(''),
      );
    const { logs } = (await (await sut.get('/info/job/j2')).json()) as { logs: string[] };
    expect([logs.length, logs[0], logs[1], logs.at(-1)]).toEqual([
      5001,
      '… 7345 lines before, whole at /info/logs/j2',
      'line 7345',
      'line 12344',
    ]);
  });
});

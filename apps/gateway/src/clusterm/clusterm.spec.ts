import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { MusterError } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { job, node } from '../testing/records.js';

// Real processes on a machine that may be busy with others.
jest.setTimeout(30_000);

interface Exchange {
  name: string;
  request: [method: string, path: string];
  body?: string;
  contentType?: string | null;
  status: number;
  answer: unknown;
}

/** Exchanges with the contiv cluster manager that need no state, as data: what it was sent and what it answered. */
const exchanges = JSON.parse(readFileSync(new URL('./recorded-exchanges.json', import.meta.url), 'utf8')) as Exchange[];

describe('the clusterm surface', () => {
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    const nodes = [node('host1', 'SN1'), node('host2', 'SN2'), node('host3', 'SN3')].map((n) => ({
      ...n,
      hostGroup: 'service-master',
    }));
    sut.answer('inventory.nodes.list', ({ names }) => ({
      items: names === undefined ? nodes : nodes.filter((n) => names.includes(n.name)),
    }));
    sut.answer('inventory.nodes.get', ({ name }) => {
      const found = nodes.find((n) => n.name === name);
      if (found === undefined)
        throw new MusterError('NODE_UNKNOWN', `no node "${name}"`, {
          text: `node with name or address "${name}" doesn't exists`,
        });
      return found;
    });
    sut.answer('inventory.settings.get', () => ({ globals: {}, revision: 1 }) as never);
    sut.answer('inventory.jobs.get', ({ id }) => {
      if (id === 'j1') return job('j1', { status: 'Complete' });
      throw new MusterError('JOB_UNKNOWN', `no job "${id}"`);
    });
    sut.answer('inventory.operations.submit', ({ nodes: names = [], hostGroup = '' }) => {
      if (names.length === 0)
        throw new MusterError('BAD_REQUEST', 'no nodes', { text: 'atleast one node should be specified' });
      if (hostGroup === '')
        throw new MusterError('HOST_GROUP_INVALID', 'no group', { text: 'invalid or empty host-group specified: ""' });
      return { job: 'j1' };
    });
    sut.answer('inventory.globals.put', ({ extraVars = {} }) => ({ extraVars }));
    sut.answer('inventory.monitor.event', ({ nodes: seen }) => ({ nodes: seen.map((n) => `${n.label}-${n.serial}`) }));
  });
  afterAll(() => sut.stop());

  it.each(exchanges.map((e) => [e.name, e] as const))('answers as recorded: %s', async (_, e) => {
    const [method, path] = e.request;
    const contentType = e.contentType === undefined ? 'application/json' : e.contentType;
    const answer = await fetch(sut.url + path, {
      method,
      headers: method === 'POST' && contentType !== null ? { 'content-type': contentType } : {},
      ...(e.body !== undefined && { body: new TextEncoder().encode(e.body) }),
    });
    const text = await answer.text();
    expect(answer.status).toBe(e.status);
    if (typeof e.answer === 'string') {
      expect(text).toBe(e.answer);
      if (e.answer !== '') expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    } else {
      expect(JSON.parse(text)).toEqual(e.answer);
      expect(answer.headers.get('content-type')).toContain('application/json');
    }
  });

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
        kind: 'commission',
        nodes: ['host1-SN1'],
        hostGroup: 'service-master',
        extraVars: { nap: 4 },
      });
    }
    for (const path of ['/update/nodes', '/maintenance/nodes']) {
      await sut.send('POST', path, { nodes: ['host1-SN1'], host_group: 'g', extra_vars: { a: 1 } });
      expect(sut.last('inventory.operations.submit')).toMatchObject({ kind: 'maintenance', extraVars: { a: 1 } });
    }
  });

  it('leaves the globals alone when none are sent, and clears them for a blank text', async () => {
    const before = sut.asked.length;
    expect((await sut.send('POST', '/globals', {})).status).toBe(200);
    expect(sut.asked.length).toBe(before);
    await sut.send('POST', '/globals', { extra_vars: ' ' });
    expect(sut.last('inventory.globals.put')).toEqual({ by: 'local', extraVars: {} });
  });

  it('hands every node of an event on, whatever the case of its name', async () => {
    const nodes = [
      { label: 'new', serial: 'A', addr: '127.0.0.50' },
      { label: 'new', serial: 'B', addr: '127.0.0.51' },
    ];
    const answer = await sut.send('POST', '/monitor/event', { monitor_event: { name: 'dIscovered', nodes } });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(sut.last('inventory.monitor.event')).toEqual({ by: 'local', event: 'discovered', nodes });
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
});

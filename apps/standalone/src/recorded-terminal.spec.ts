import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MusterUnderTest, type Outcome } from '../../cli/src/testing/muster.js';

interface Exchange {
  name: string;
  request: [method: string, path: string];
  body?: string;
  status: number;
  answer: unknown;
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const exchanges = JSON.parse(read('./recorded-exchanges.json')) as Exchange[];
const exchange = (number: string): Exchange => {
  const found = exchanges.find((e) => e.name.startsWith(`${number} `));
  if (found === undefined) throw new Error(`nobody has recorded exchange ${number}`);
  return found;
};

/** What stood on the old client's terminal: command line, text, exit code. */
const recorded = [...read('./recorded-terminal.txt').matchAll(/^\$ clusterctl (.*)\n([^]*?)\[exit (\d+)\]$/gm)].map(
  ([, line = '', text = '', code]) => ({ line, text, code: Number(code) }),
);

const node = (n: number, prev: { status: string; state: string }): unknown => ({
  monitoring_state: { label: `host${n}`, serial_number: `SN${n}`, management_address: `127.0.0.${n}` },
  inventory_state: {
    name: `host${n}-SN${n}`,
    status: 'Allocated',
    prev_status: prev.status,
    state: 'Discovered',
    prev_state: prev.state,
  },
  configuration_state: {
    inventory_name: `host${n}-SN${n}`,
    host_group: 'service-master',
    ssh_address: `127.0.0.${n}`,
    inventory_vars: { node_addr: `127.0.0.${n}`, node_name: `host${n}-SN${n}` },
  },
});
const nodes = {
  'host3-SN3': node(3, { status: 'Provisioning', state: 'Discovered' }),
  'host1-SN1': node(1, { status: 'Allocated', state: 'Unknown' }),
  'host2-SN2': node(2, { status: 'Allocated', state: 'Unknown' }),
};
/** What the server answered, in the state in which it then was. */
const served: Record<string, unknown> = {
  'GET /info/nodes': nodes,
  'GET /info/node/host3-SN3': nodes['host3-SN3'],
  'GET /info/globals': exchange('04').answer,
  'GET /config': exchange('104').answer,
  'GET /info/job/last': {
    desc: 'decommissionEvent: nodes:[host3-SN3 nope] extra-vars: {}',
    task: '',
    status: 'Queued',
    error: '',
    logs: [],
  },
};

describe('the old client on its recorded server', () => {
  const sut = new MusterUnderTest();
  const dir = mkdtempSync(join(tmpdir(), 'muster-terminal-'));
  const config = join(dir, 'config.json');
  const call = (args: string[]): Promise<Outcome> => sut.call(args, { program: 'clusterctl' });
  const plays = ({ request: [method, path], status, answer }: Exchange): void => {
    const [text, type] =
      typeof answer === 'string' ? [answer, 'text/plain'] : [JSON.stringify(answer), 'application/json'];
    sut.on(`${method} ${path}`, (_: unknown, res: ServerResponse) =>
      res.writeHead(status, { 'content-type': type }).end(text),
    );
  };

  beforeAll(() => sut.start());
  afterAll(async () => {
    await sut.stop();
    rmSync(dir, { recursive: true });
  });
  beforeEach(() => {
    sut.received.length = 0;
  });

  it('has five recordings', () => expect(recorded).toHaveLength(5));

  it.each(recorded.map((r) => [r.line, r] as const))('clusterctl %s is printed byte for byte', async (line, r) => {
    for (const [route, answer] of Object.entries(served)) sut.on(route, answer);
    expect(await call(line.split(' '))).toEqual({ code: r.code, stdout: r.text, stderr: '' });
  });

  it.each<[number: string, args: string[]]>([
    ['40', ['global', 'set', '-e', '{"gvar":"g1","foo":"global-level"}']],
    ['48', ['global', 'set', '--extra-vars', '{"gvar":"g2"}']],
    ['42', ['nodes', 'commission', 'host1-SN1', '-g', 'service-master', '-e', '{"nap":4}']],
    ['64', ['nodes', 'commission', 'host2-SN2', '-g', 'service-worker', '-e', '{"nap":1}']],
    ['103', ['config', 'set', config]],
  ])('exchange %s is sent as it was recorded, and nothing is printed', async (number, args) => {
    const e = exchange(number);
    const body: unknown = JSON.parse(e.body ?? '');
    if (number === '103') writeFileSync(config, JSON.stringify((body as { config: unknown }).config));
    plays(e);
    expect(await call(args)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(sut.received).toMatchObject([{ method: e.request[0], url: e.request[1], body }]);
  });

  it.each<[number: string, args: string[]]>([
    ['01', ['nodes', 'get', '--json']],
    ['02', ['node', 'get', 'host1-SN1', '--json']],
    ['43', ['node', 'get', 'host1-SN1', '-j']],
    ['41', ['global', 'get', '--json']],
    ['05', ['config', 'get', '--json']],
    ['50', ['job', 'get', 'last', '--json']],
  ])('the answer of exchange %s is printed as JSON, whole and in its order', async (number, args) => {
    const e = exchange(number);
    plays(e);
    expect(await call(args)).toEqual({ code: 0, stdout: JSON.stringify(e.answer, undefined, 4), stderr: '' });
  });

  /** Of Go's printing of a request. */
  const go = (r: { nodes?: string; addrs?: string; group?: string; vars?: string }): string =>
    `&{Nodes:[${r.nodes ?? ''}] Addrs:[${r.addrs ?? ''}] HostGroup:${r.group ?? ''} ExtraVars:${r.vars ?? ''} Job: Event:{Name: Nodes:[]} Config:<nil>}`;
  const host1 = { nodes: 'host1-SN1', group: 'service-master' };

  it.each<[number: string, args: string[], asked: string]>([
    ['03', ['node', 'get', 'nope'], '<nil>'],
    ['06', ['job', 'get', 'active'], '<nil>'],
    ['07', ['job', 'get', 'last'], '<nil>'],
    ['08', ['job', 'get', 'foo'], '<nil>'],
    [
      '26',
      ['nodes', 'commission', 'host1-SN1', 'nope', '-g', 'service-master'],
      go({ ...host1, nodes: 'host1-SN1 nope' }),
    ],
    ['27', ['nodes', 'commission', 'host1-SN1'], go({ nodes: 'host1-SN1' })],
    ['28', ['nodes', 'commission', 'host1-SN1', '--host-group', 'foo'], go({ ...host1, group: 'foo' })],
    ['29', ['nodes', 'commission', 'host1-SN1', '-g', 'service-worker'], go({ ...host1, group: 'service-worker' })],
    [
      '30',
      ['nodes', 'commission', 'host1-SN1', '-g', 'service-master', '-e', '{"foo":}'],
      go({ ...host1, vars: '{"foo":}' }),
    ],
    ['31', ['nodes', 'commission', 'host1-SN1', '-g', 'service-master', '-e', '[1]'], go({ ...host1, vars: '[1]' })],
    ['34', ['nodes', 'decommission', 'host1-SN1'], go({ nodes: 'host1-SN1' })],
    ['35', ['nodes', 'update', 'host1-SN1', '-g', 'service-master'], go(host1)],
    ['36', ['nodes', 'update', 'host1-SN1', '-g', 'bar'], go({ ...host1, group: 'bar' })],
    ['37', ['discover', '127.0.0.1', '127.0.0.9'], go({ addrs: '127.0.0.1 127.0.0.9' })],
    ['45', ['nodes', 'commission', 'host2-SN2', '-g', 'service-master'], go({ ...host1, nodes: 'host2-SN2' })],
  ])('the refusal of exchange %s is one line of the old logger, with what was asked', async (number, args, asked) => {
    const e = exchange(number);
    plays(e);
    const { code, stdout, stderr } = await call(args);
    expect([code, stdout]).toEqual([1, '']);
    const path = e.request[1].slice(1);
    const said = `Request URL: ${path} Request Body: ${asked} Response status: "500 Internal Server Error". Response body: ${String(e.answer)}`;
    const [, at = '', line = ''] = /^time="([^"]+)" (.*)$/s.exec(stderr) ?? [];
    expect(Number.isNaN(Date.parse(at))).toBe(false);
    expect(line).toBe(`level=fatal msg=${JSON.stringify(said)} \n`);
    if (e.body !== undefined && number !== '37') expect(sut.received.at(-1)?.body).toEqual(JSON.parse(e.body));
  });
});

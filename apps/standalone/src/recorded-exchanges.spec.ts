import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { type JobRecord, type NodeResult, RESERVATIONS_KEY } from '#contracts';
import { until } from '../../inventory/src/testing/until.js';
import { RunningInventory, seen } from '../../inventory/src/testing/running-inventory.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

/** A JSON value is the whole answer, or of a job the members that are compared. */
type Answer = string | Record<string, unknown>;

interface Exchange {
  /** Begins with its place in the recording; the recording has gaps. */
  name: string;
  request: [method: string, path: string];
  body?: string;
  /** null: none is sent. @default application/json where there is a POST */
  contentType?: null;
  status: number;
  answer: Answer;
  /** Where Muster answers otherwise, on purpose: what is sent or answered instead. */
  ours?: { why: string; body?: string; status?: number; answer?: Answer; starts?: string };
}

/** What the contiv cluster manager was sent, and what it answered, in this order. */
const exchanges = JSON.parse(readFileSync(new URL('./recorded-exchanges.json', import.meta.url), 'utf8')) as Exchange[];
const hosts = ['1', '2', '3'].map((n) => ({ label: `host${n}`, serial: `SN${n}`, addr: `127.0.0.${n}` }));
/** That of the recorded server. */
const ansible = {
  playbooks: '/etc/clusterm/playbooks',
  privateKey: '/etc/clusterm/key',
  extraVars: { ansible_connection: 'local', ansible_python_interpreter: '/usr/bin/python3', foo: 'config-level' },
};
const ok: NodeResult = { ok: true, step: 'site', checksum: 'sum' };

describe('the recorded exchanges with the contiv cluster manager, in their order, over gateway and inventory', () => {
  let inventory: RunningInventory;
  let gateway: GatewayBeside;

  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  /** Speaks as a provisioner: what becomes of the job that holds host1-SN1. */
  const work = async (change: (job: JobRecord) => JobRecord): Promise<void> => {
    const held = await seen(inventory.reservations, RESERVATIONS_KEY, (r) => r.held['host1-SN1'] !== undefined);
    const id = held.held['host1-SN1']?.job ?? '';
    const jobs = inventory.as('provisioner').bucket<JobRecord>('jobs');
    const { value } = await jobs.mutate(id, (job) => job && change(job.value));
    const shown = async (): Promise<boolean> =>
      (await inventory.as('gateway').call('inventory.jobs.list', {})).items[0]?.status === value?.status;
    await until(shown, `the job is ${value?.status}`);
  };
  const begin = (): Promise<void> => work((job) => ({ ...job, status: 'Running', startedAt: 1, worker: 'spec' }));
  const complete = async (): Promise<void> => {
    const ended = { status: 'Complete' as const, endedAt: 2 };
    await work((job) => ({ ...job, ...ended, results: Object.fromEntries(job.nodes.map((n) => [n, ok])) }));
  };

  /** What happened between two recorded exchanges, before the one that is named. */
  const meanwhile: Record<string, () => Promise<unknown>> = {
    '44': begin,
    '50': async () => {
      await complete();
      await seen(inventory.nodes, 'host1-SN1', (node) => node.status === 'Allocated');
    },
  };

  beforeAll(async () => {
    inventory = await RunningInventory.start({ ansible });
    await inventory.work('provisioner', ['ansible']);
    gateway = await startGatewayBeside(inventory.as('gateway'));
    // The gateway says 503 where its connection to NATS has just broken, as on a machine that is busy with others.
    const event = { monitor_event: { name: 'discovered', nodes: hosts } };
    await until(async () => (await post('/monitor/event', event)).ok, 'the event is taken');
    for (const { label, serial } of hosts) await seen(inventory.nodes, `${label}-${serial}`, () => true);
  });
  afterAll(async () => {
    await gateway?.close();
    await inventory?.stop();
  });

  it.each(exchanges.map((e) => [e.name, e] as const))('%s', async (name, e) => {
    await meanwhile[name.split(' ')[0] ?? '']?.();
    const [method, path] = e.request;
    const body = e.ours?.body ?? e.body;
    const answer = await fetch(gateway.url + path, {
      method,
      headers: method === 'POST' && e.contentType !== null ? { 'content-type': 'application/json' } : {},
      // As bytes: a text would bring a media type of its own.
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    });
    const text = await answer.text();
    const expected = e.ours?.answer ?? e.answer;
    if (e.ours?.starts !== undefined) expect(text.slice(0, e.ours.starts.length)).toBe(e.ours.starts);
    else if (typeof expected === 'string') expect(text).toBe(expected);
    else if (path.startsWith('/info/job/')) expect(JSON.parse(text)).toMatchObject(expected);
    else expect(JSON.parse(text)).toEqual(expected);
    expect(answer.status).toBe(e.ours?.status ?? e.status);
    const type = typeof expected === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
    if (text !== '') expect(answer.headers.get('content-type')).toBe(type);
  });
});

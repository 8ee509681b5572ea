import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, credsAuthenticator, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { Ajv, type ValidateFunction } from 'ajv';
import { execa } from 'execa';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { newAuthority } from '#bus/init/certificates.js';
import {
  type EventKind,
  type EventsCommandAnswer,
  type FenceCommandAnswer,
  type JobRecord,
  type NodeResult,
  Subjects,
} from '#contracts';
import { RunningInventory, seen } from './testing/running-inventory.js';

interface Ref {
  $ref: string;
}
interface Message {
  contentType: string;
  payload: Ref;
  headers?: Ref;
  examples: { name: string; payload: unknown; headers?: Record<string, string> }[];
}
interface Operation {
  action: 'send' | 'receive';
  channel: Ref;
  reply?: { messages: Ref[] };
}
interface Document {
  channels: Record<string, { address?: string; messages: Record<string, Ref> }>;
  operations: Record<string, Operation>;
  components: { messages: Record<string, Message>; schemas: Record<string, object> };
}

/** Complete by the compiler: a kind that is new has to stand here, and then the document has to have it. */
const kinds: Record<EventKind, true> = {
  'node-created': true,
  'node-deleted': true,
  'node-edited': true,
  settings: true,
  claim: true,
  'node-status': true,
  'node-state': true,
  discovered: true,
  disappeared: true,
  rebooted: true,
  degraded: true,
  'degraded-over': true,
  incident: true,
  check: true,
  resetup: true,
  drained: true,
  'in-service': true,
  'out-of-service': true,
  job: true,
  'job-node': true,
  workload: true,
  alarm: true,
  driver: true,
  'dead-letter': true,
  'monitor-event': true,
  audit: true,
};

const document = parse(readFileSync(new URL('../../../docs/asyncapi.yaml', import.meta.url), 'utf8')) as Document;
const ajv = new Ajv({ strict: false }).addSchema(document as object, 'asyncapi');
const validator = (ref: Ref): ValidateFunction => ajv.compile({ $ref: `asyncapi${ref.$ref}` });
const at = <T>({ $ref }: Ref): T => {
  const [, ...path] = $ref.split('/');
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document) as T;
};
/** The one message of an operation's channel. */
const messageOf = (operation: Operation): Message => {
  const channel = at<Document['channels'][string]>(operation.channel);
  return at<Message>(Object.values(channel.messages)[0] as Ref);
};
const addressOf = (operation: Operation): string => at<{ address: string }>(operation.channel).address;
const payloadOf = (message: Message, msg: Msg): unknown =>
  message.contentType === 'text/plain' ? msg.string() : msg.json();
const operations = (action: Operation['action']): [string, Operation][] =>
  Object.entries(document.operations).filter(([, operation]) => operation.action === action);

describe('docs/asyncapi.yaml', () => {
  it('has every kind of event, and every other public subject', () => {
    const addresses = Object.values(document.channels).flatMap((channel) => channel.address ?? []);
    const commands = ['commission', 'decommission', 'maintenance', 'discover', 'check', 'fence', 'events'] as const;
    expect(addresses.sort()).toEqual(
      [
        ...Object.keys(kinds).map((kind) => Subjects.event(kind, '{key}')),
        ...commands.map((kind) => Subjects.command(kind)),
        Subjects.monitor('discovered'),
        Subjects.monitor('disappeared'),
        Subjects.log('{job}'),
        Subjects.verdict('{node}'),
      ].sort(),
    );
    for (const kind of Object.keys(kinds)) expect(document.components.schemas).toHaveProperty([`event.${kind}`]);
  });

  it.each(Object.entries(document.components.messages))('has examples of %s that are what it says', (_, message) => {
    const payload = validator(message.payload);
    for (const example of message.examples) {
      payload(example.payload);
      expect(payload.errors ?? []).toEqual([]);
    }
  });
});

describe('a program that knows docs/asyncapi.yaml alone, as NATS user "tools"', () => {
  let sut: RunningInventory;
  let tool: NatsConnection;
  /** What was heard: channel → payloads, and what was wrong with them. */
  const heard = new Map<string, unknown[]>();
  const wrong: unknown[] = [];
  const waiting = new Set<() => void>();

  const hears = async (operation: string, fits: (payload: never) => boolean): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`not heard: ${operation}`)), 30_000);
      const look = (): void => {
        if (!(heard.get(operation) ?? []).some((payload) => fits(payload as never))) return;
        waiting.delete(look);
        clearTimeout(late);
        resolve();
      };
      waiting.add(look);
      look();
    });
  };

  const listen = (name: string, operation: Operation): void => {
    const message = messageOf(operation);
    const payload = validator(message.payload);
    const headers = message.headers && validator(message.headers);
    tool.subscribe(addressOf(operation).replace(/\{\w+\}/g, '*'), {
      callback: (error, msg) => {
        if (error) return void wrong.push(error);
        const value = payloadOf(message, msg);
        if (!payload(value)) wrong.push({ subject: msg.subject, value, errors: payload.errors });
        const said = Object.fromEntries((msg.headers?.keys() ?? []).map((key) => [key, msg.headers?.get(key)]));
        if (headers && !headers(said)) wrong.push({ subject: msg.subject, headers: said, errors: headers.errors });
        heard.set(name, [...(heard.get(name) ?? []), value]);
        for (const look of waiting) look();
      },
    });
  };

  /** The example of the document, and the answer, which must be what the document says. */
  const ask = async (name: string): Promise<{ ok: boolean; job?: string; nodes?: string[] }> => {
    const operation = document.operations[name] as Operation;
    const [example] = messageOf(operation).examples;
    const msg = await tool.request(addressOf(operation), JSON.stringify(example?.payload), { timeout: 10_000 });
    const answer = msg.json<{ ok: boolean; job?: string }>();
    const reply = validator(at<Ref & Message>(at<Ref>(operation.reply?.messages[0] as Ref)).payload);
    if (!reply(answer)) wrong.push({ name, answer, errors: reply.errors });
    return answer;
  };

  /** Speaks as a provisioner that has carried the job out. */
  const finish = async (id: string): Promise<void> => {
    const ok: NodeResult = { ok: true, step: 'site', checksum: 'sum', check: { findings: [], checksum: 'sum' } };
    await seen(sut.jobs, id, () => true);
    await sut.as('provisioner').appendLog(id, 'PLAY [all] ****\n');
    await sut.as('provisioner').endLog(id);
    await sut
      .as('provisioner')
      .bucket<JobRecord>('jobs')
      .mutate(id, (job) =>
        job
          ? {
              ...job.value,
              status: 'Complete',
              startedAt: 1,
              endedAt: 2,
              worker: 'spec',
              results: Object.fromEntries(job.value.nodes.map((node) => [node, ok])),
            }
          : undefined,
      );
    await seen(sut.jobs, id, (job) => job.settled);
  };

  beforeAll(async () => {
    sut = await RunningInventory.start({ tls: true });
    await sut.work('provisioner', ['ansible']);
    await sut.work('fencer', ['ipmitool']);
    tool = await connect({
      servers: [sut.nats.url],
      authenticator: credsAuthenticator(readFileSync(join(sut.nats.dir, 'creds', 'tools.creds'))),
      inboxPrefix: '_INBOX_tools',
      tls: { ca: readFileSync(join(sut.nats.dir, 'tls/ca.pem'), 'utf8') },
    });
    for (const [name, operation] of operations('send')) listen(name, operation);
    await tool.flush();
  });

  afterAll(async () => {
    await tool?.close();
    await sut?.stop();
  });

  it('reports nodes, and hears of them', async () => {
    expect(await ask('monitorDiscovered')).toMatchObject({ ok: true, nodes: ['rack1-a1'] });
    await hears('eventNodeCreated', ({ data }: { data: { node: string } }) => data.node === 'rack1-a1');
    await hears('eventDiscovered', ({ data }: { data: { nodes: string[] } }) => data.nodes.includes('rack1-a1'));
  });

  it.each(['Commission', 'Check', 'Maintenance', 'Decommission', 'Discover'])(
    'orders a job: %s, and follows it and its log to the end',
    async (kind) => {
      const { ok, job = '' } = await ask(`command${kind}`);
      expect(ok).toBe(true);
      await finish(job);
      await hears(
        'eventJob',
        (e: { key: string; data: { status: string } }) => e.key === job && e.data.status === 'Queued',
      );
      await hears('jobLog', (text: string) => text.startsWith('PLAY'));
    },
  );

  it('asks what a fencing would meet, hears verdicts, and reports that nodes are gone', async () => {
    const asked = await ask('commandFence');
    expect(asked).toMatchObject({ ok: true, nodes: ['rack1-a1'] });
    expect((asked as { gates?: unknown[] }).gates?.length).toBeGreaterThan(3);
    await sut.verdict('rack1-a1', 'UP');
    await hears('verdict', (verdict: { node: string }) => verdict.node === 'rack1-a1');
    expect(await ask('monitorDisappeared')).toMatchObject({ ok: true });
    await hears('eventDisappeared', ({ data }: { data: { nodes: string[] } }) => data.nodes.includes('rack1-a1'));
    await hears(
      'eventAudit',
      ({ data }: { data: { by: string; action: string } }) => data.by === 'nats' && data.action === 'commission',
    );
  });

  const command = async <T>(kind: 'fence' | 'events', q: object): Promise<T> =>
    (await tool.request(`muster.cmd.${kind}`, JSON.stringify(q), { timeout: 5_000 })).json<T>();
  const replayed = (q: object): Promise<EventsCommandAnswer> => command('events', q);

  it('orders a node off on the way of HTTP: on record, through the gates', async () => {
    const order = { node: 'rack1-a1', reason: 'its fan smokes' };
    const taken = await command<FenceCommandAnswer>('fence', order);
    expect(taken).toMatchObject({ ok: true, nodes: ['rack1-a1'], incident: { id: expect.any(String) as unknown } });
    expect(taken.gates.map((g) => g.gate)).toContain('OBSERVE');
    await hears(
      'eventAudit',
      ({ data }: { data: Record<string, string> }) =>
        data['action'] === 'fence' && data['outcome'] === 'accepted' && data['detail'] === order.reason,
    );
    expect(await command('fence', { node: 'nobody', reason: 'x' })).toMatchObject({ ok: false, code: 'NODE_UNKNOWN' });
    expect(await command('fence', { node: 'rack1-a1', reason: 'a\nb' })).toMatchObject({
      ok: false,
      code: 'BAD_REQUEST',
    });
    await hears('eventAudit', ({ data }: { data: Record<string, string> }) => data['outcome'] === 'refused');
  });

  it('reads what was told from the beginning, in order, page by page, without JetStream', async () => {
    const seqs: number[] = [];
    let page = await replayed({ limit: 3 });
    for (;;) {
      seqs.push(...page.events.map((e) => e.seq));
      if (!page.more) break;
      expect(page.events.length).toBeLessThanOrEqual(3);
      page = await replayed({ after: page.last, limit: 3 });
    }
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(seqs.length).toBeGreaterThan(10);
    const verdicts = await replayed({ kinds: ['verdict'] });
    expect(verdicts.events.map((e) => [e.kind, e.key])).toContainEqual(['verdict', 'rack1-a1']);
    expect(new Set(verdicts.events.map((e) => e.kind))).toEqual(new Set(['verdict']));
    expect(await replayed({ after: page.last })).toMatchObject({ ok: true, more: false, lost: false });
    for (const q of [
      { after: -1 },
      { kinds: ['*'] },
      { kinds: ['>'] },
      { limit: 1001 },
      { from: 1 },
      { kinds: ['\u001b'] },
    ])
      expect(await replayed(q)).toMatchObject({ ok: false, code: 'BAD_REQUEST' });
  });

  it('reads the same from Python, by the text protocol and TLS, without a client library; and not by another’s inbox', async () => {
    const program = fileURLToPath(new URL('../../../docs/examples/nats_events.py', import.meta.url));
    const creds = join(sut.nats.dir, 'creds', 'tools.creds');
    const { host } = new URL(sut.nats.url);
    const ca = ['--ca', join(sut.nats.dir, 'tls/ca.pem')];
    const run = (inbox: string, trust = ca): Promise<{ exitCode?: number; stdout: string; stderr: string }> =>
      execa('python3', [program, ...trust, host, creds, inbox, '0'], { reject: false, timeout: 30_000 });
    const { stdout, stderr } = await run('_INBOX_tools');
    expect(stderr).toBe('');
    const lines = stdout.split('\n');
    const told = lines.slice(0, -1).map((line) => (JSON.parse(line) as { seq: number }).seq);
    const { events } = await replayed({ limit: told.length });
    expect(told).toEqual(events.map((e) => e.seq));
    expect(lines.at(-1)).toBe(`last ${told.at(-1)}`);
    const other = await run('_INBOX_gateway');
    expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining('Permissions Violation')]);
    // Nor to a server that this CA has not signed, or unseen.
    const foreign = join(sut.nats.dir, 'foreign.pem');
    writeFileSync(foreign, (await newAuthority('other', Date.now())).certificate);
    const elsewhere = await run('_INBOX_tools', ['--ca', foreign]);
    expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([1, expect.stringContaining('certificate verify failed')]);
    const unseen = await run('_INBOX_tools', []);
    expect([unseen.exitCode, unseen.stderr]).toEqual([1, expect.stringContaining('name its CA with --ca')]);
  });

  it('is told in the document’s words why something is refused', async () => {
    const answer = (await tool.request('muster.cmd.commission', '{"nodes":["nobody"]}', { timeout: 5_000 })).json();
    expect(answer).toMatchObject({ ok: false, code: 'NODE_UNKNOWN' });
    expect(validator({ $ref: '#/components/schemas/CommandAnswer' })(answer)).toBe(true);
  });

  it('has heard nothing that the document does not say', () => {
    expect(wrong).toEqual([]);
  });
});

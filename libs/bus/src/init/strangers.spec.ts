import { copyFileSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { agentUser, Buckets, inboxPrefix, Streams, Subjects, toolUser } from '#contracts';
import {
  addToolUser,
  connectBus,
  credentialsFile,
  readCredentials,
  revokeAgentUsers,
  revokeToolUser,
  type BusPorts,
} from '../index.js';
import { bucketStream, subjectOf } from '../store-names/kv-keys.js';
import { proofOf } from '#contracts/keys/nkey.js';
import { connectPorts } from '../nats/connect.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

/** Everything that a user could try, against a real server: what it may is what the page of the docs says. */
const users = [
  'inventory',
  'detector',
  'provisioner',
  'fencer',
  'gateway',
  'tools',
  'tool=report',
  'agent=n1',
] as const;
type User = (typeof users)[number];

const streams = [Streams.events.name, Streams.logs.name, ...Buckets.map(bucketStream)];

/** Every request that nats-server's JetStream answers, of one stream. */
const apiOf = (stream: string): string[] =>
  [
    ...['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'INFO', 'SNAPSHOT', 'RESTORE', 'MSG.GET', 'MSG.DELETE'].map(
      (v) => `STREAM.${v}.S`,
    ),
    ...['STREAM.LEADER.STEPDOWN.S', 'STREAM.PEER.REMOVE.S', 'DIRECT.GET.S', 'DIRECT.GET.S.x'],
    ...['CONSUMER.CREATE.S', 'CONSUMER.CREATE.S.c', 'CONSUMER.CREATE.S.c.x', 'CONSUMER.DURABLE.CREATE.S.c'],
    ...['CONSUMER.DELETE.S.c', 'CONSUMER.INFO.S.c', 'CONSUMER.LIST.S', 'CONSUMER.NAMES.S', 'CONSUMER.MSG.NEXT.S.c'],
    ...['CONSUMER.LEADER.STEPDOWN.S.c'],
  ].map((verb) => `$JS.API.${verb.replace('.S', `.${stream}`)}`);
const api = [
  ...['INFO', 'STREAM.NAMES', 'STREAM.LIST', 'STREAM.TEMPLATE.CREATE.t', 'META.LEADER.STEPDOWN'].map(
    (v) => `$JS.API.${v}`,
  ),
  ...streams.flatMap(apiOf),
];
/** The same under the name that it has in accounts without streams. */
const imported = api.map((subject) => subject.replace('$JS.API', 'muster.js'));
/** Of these a service may ask for what its streams hold, and for how far they are: nothing that goes elsewhere. */
const reads = /^muster\.js\.STREAM\.(INFO|MSG\.GET)\./;

/** Name in the table → a subject that stands for it. */
const leases = ['detector', 'fencer', 'conductor', 'job.j1'];
const targets: [string, string][] = [
  ...Buckets.flatMap((b): [string, string][] =>
    b === 'leases'
      ? leases.map((l) => [`lease \`${l}\``, subjectOf(b, l)])
      : [[`bucket \`${b}\``, subjectOf(b, 'zzz')]],
  ),
  ['verdicts', Subjects.verdict('zzz')],
  ['events', Subjects.event('audit', 'zzz')],
  ['logs of jobs', Subjects.log('zzz')],
  ['beacon of the detector', Subjects.beacon()],
  ['reports', Subjects.report('zzz')],
  ['own report', Subjects.report('n1')],
  ['questions of gates', Subjects.gate('zzz')],
  ['polls', Subjects.poll('zzz')],
  ['questions for life', Subjects.life('zzz')],
  ['news of peers', Subjects.peersChanged('zzz')],
  ['RPC of inventory', Subjects.rpc('inventory', 'nodes.list')],
  ['enrolment', Subjects.rpc('inventory', 'agents.enrol')],
  ['keys of the datagrams', Subjects.rpc('inventory', 'agents.keys')],
  ['RPC of the fencer', Subjects.rpc('fencer', 'power.read')],
  ['RPC of the provisioner', Subjects.rpc('provisioner', 'x')],
  ['`muster.cmd.events`', Subjects.command('events')],
  ['other `muster.cmd.*`', Subjects.command('fence')],
  ['`muster.monitor.*`', Subjects.monitor('discovered')],
  ['readings for the detector', Subjects.read('detector')],
  ['readings for the gateway', Subjects.read('gateway')],
  ['messages of readings', Subjects.feed('detector', 'zzz')],
];

let nats: TestNats;
let inventory: BusPorts;
const open: NatsConnection[] = [];

async function as(user: User): Promise<NatsConnection> {
  const isTool = user.startsWith('tool=');
  const authenticator = isTool
    ? credsAuthenticator(readFileSync(`${nats.dir}/creds/${user}.creds`))
    : proofOf(readCredentials(credentialsFile(nats.dir, user)));
  const nc = await connect({ servers: [nats.url], authenticator, inboxPrefix: inboxPrefix(user), reconnect: false });
  open.push(nc);
  return nc;
}

/** @returns those that the server refuses, of these subjects */
async function refused(
  nc: NatsConnection,
  tries: readonly { subject: string; reply?: string }[],
): Promise<Set<string>> {
  const told = new Set<string>();
  const status = nc.status();
  const reading = (async () => {
    for await (const s of status)
      if (s.type === 'error') {
        const subject = /Publish to "([^"]+)"/.exec(s.error.message)?.[1];
        if (subject !== undefined) told.add(subject);
      }
  })();
  for (const { subject, reply } of tries) nc.publish(subject, '{}', reply === undefined ? {} : { reply });
  await nc.flush();
  (status as unknown as { stop(): void }).stop();
  await reading;
  return told;
}

/** Of every stream, where it ends: nothing was stored, and nothing taken away, while these are equal. */
const ends = async (): Promise<Record<string, unknown>> =>
  Object.fromEntries(await Promise.all(streams.map(async (s) => [s, await inventory.messages.info(s)] as const)));

beforeAll(async () => {
  nats = await startTestNats({ users: true, agents: ['n1'] });
  await addToolUser(nats.dir, 'report', 'viewer');
  const o = {
    name: 'inventory',
    servers: [nats.url],
    credentials: readCredentials(credentialsFile(nats.dir, 'inventory')),
  };
  const bus = await connectBus(o);
  await bus.createBuckets();
  await bus.close();
  inventory = await connectPorts(o);
});

afterAll(async () => {
  await Promise.all(open.map((nc) => nc.close()));
  await inventory.wire.close();
  await nats.stop();
});

describe('each NATS user', () => {
  it('may publish what the docs say, and nothing else', async () => {
    const may = new Map<User, Set<string>>();
    for (const user of users) {
      const nc = await as(user);
      const no = await refused(
        nc,
        targets.map(([, subject]) => ({ subject })),
      );
      may.set(user, new Set(targets.flatMap(([name, subject]) => (no.has(subject) ? [] : [name]))));
      // Not carried out: what inventory may do, it does to this very server.
      if (user === 'inventory') continue;
      const noApi = await refused(
        nc,
        api.map((subject) => ({ subject })),
      );
      if (noApi.size < api.length) may.get(user)?.add('any request to JetStream');
      const noImported = await refused(
        nc,
        imported.map((subject) => ({ subject })),
      );
      const asked = imported.filter((subject) => !noImported.has(subject));
      if (asked.length > 0) may.get(user)?.add('state and single messages of streams that it reads');
      expect(asked.filter((subject) => !reads.test(subject))).toEqual([]);
    }
    may.get('inventory')?.add('any request to JetStream');
    const asked = ['any request to JetStream', 'state and single messages of streams that it reads'];
    const rows = [...targets.map(([name]) => name), ...asked].map((name) =>
      `| ${name} | ${users.map((u) => (may.get(u)?.has(name) === true ? 'yes' : '')).join(' | ')} |`.replaceAll(
        / +/g,
        ' ',
      ),
    );
    const written = readFileSync(new URL('../../../../docs/nats.md', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows.filter((row) => !written.includes(row))).toEqual([]);
  });

  it.each(['tools', 'tool=report', 'agent=n1'] as const)(
    '%s cannot ask JetStream for anything, wherever the answer is to go: nothing is stored',
    async (user) => {
      const nc = await as(user);
      const before = await ends();
      const replies = [undefined, ...targets.map(([, subject]) => subject), `${inboxPrefix(user)}.x`];
      const tries = replies.flatMap((reply) =>
        api.map((subject) => ({ subject, ...(reply !== undefined && { reply }) })),
      );
      expect((await refused(nc, tries)).size).toBe(api.length);
      expect(await ends()).toEqual(before);
    },
  );
});

describe('a program with a user of its own', () => {
  const isLetIn = async (file: string): Promise<boolean> => {
    const nc = await connect({
      servers: [nats.url],
      authenticator: credsAuthenticator(readFileSync(file)),
      reconnect: false,
    }).catch(() => undefined);
    await nc?.close();
    return nc !== undefined;
  };

  it('is let in by a running server, and no more once it was revoked, also after a restart', async () => {
    const file = await addToolUser(nats.dir, 'ticket', 'operator');
    await expect(addToolUser(nats.dir, 'ticket', 'viewer')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    const copy = `${nats.dir}/copy.creds`;
    copyFileSync(file, copy);
    expect(await isLetIn(copy)).toBe(true);
    const { key, revoker, servers } = await revokeToolUser(nats.dir, 'ticket');
    expect(servers.length).toBeGreaterThan(0);
    await revokeAgentUsers({ key: revoker, servers: [nats.url] }, [key]);
    expect(await isLetIn(copy)).toBe(false);
    await addToolUser(nats.dir, 'ticket', 'operator');
    expect(await isLetIn(file)).toBe(true);
    expect(await isLetIn(copy)).toBe(false);
  });

  it('is named by what it is, and cannot be another’s', async () => {
    await expect(addToolUser(nats.dir, 'a/b', 'viewer')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(inboxPrefix(toolUser('x'))).toBe('_INBOX_tool.x');
    expect(inboxPrefix(agentUser('x'))).toBe('_INBOX_agent.x');
  });
});

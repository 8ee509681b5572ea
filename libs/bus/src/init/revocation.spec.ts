import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { decode, type Account, type User } from '@nats-io/jwt';
import {
  addAgentUsers,
  connectBus,
  connectedAgents,
  credentialsFile,
  issueAgentCredentials,
  readAgentsKey,
  readCredentials,
  readRevokerKey,
  revokeAgentUsers,
  revokedAgentUsers,
  type AgentsKey,
  type Bus,
  type BusCredentials,
  type RevocationOptions,
} from '../index.js';
import { connectionOf } from '../testing/connection-of.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
let revoker: RevocationOptions;
let agents: AgentsKey;
const open: Bus[] = [];

const connectAs = async (credentials: BusCredentials): Promise<Bus> => {
  const bus = await connectBus({ name: credentials.user, servers: [nats.url], credentials });
  open.push(bus);
  return bus;
};
const created = (node: string): BusCredentials => readCredentials(credentialsFile(nats.dir, `agent=${node}`));
const keyOf = ({ jwt }: BusCredentials): string => decode<User>(jwt).sub;
/** When the server has ended the connection because its user was revoked: it would try again for ever. */
const cutOff = async (bus: Bus): Promise<void> => {
  for await (const s of connectionOf(bus).status())
    if (s.type === 'error' && /revoked/i.test(s.error.message)) return bus.close();
};
const isRefused = (credentials: BusCredentials): Promise<void> =>
  expect(connectAs(credentials)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });

beforeAll(async () => {
  nats = await startTestNats({ users: true, agents: ['n.1', 'n2', 'n3'] });
  revoker = { key: readRevokerKey(join(nats.dir, 'keys/revoker.key')), servers: [nats.url] };
  agents = readAgentsKey(join(nats.dir, 'keys/agents.key'));
});

afterAll(async () => {
  await Promise.all(open.map((bus) => bus.close()));
  await nats?.stop();
});

describe('a NATS user that is revoked', () => {
  it('is seen while it is connected, whoever has issued it, and nobody but agents is', async () => {
    const service = await connectAs(readCredentials(credentialsFile(nats.dir, 'inventory')));
    const issued = await issueAgentCredentials(agents, 'n.1');
    const second = await connectAs(issued);
    await connectAs(created('n.1'));
    const seen = await connectedAgents(revoker, agents);
    expect(seen).toHaveLength(2);
    // Whole seconds of the clock that signed it: neither later than now, nor of long ago.
    for (const { issuedAt } of seen) expect(Math.abs(Date.now() - issuedAt)).toBeLessThan(600_000);
    expect(seen).toEqual(
      expect.arrayContaining([
        { node: 'n.1', key: keyOf(created('n.1')), issuedAt: expect.any(Number) },
        { node: 'n.1', key: keyOf(issued), issuedAt: expect.any(Number) },
      ]),
    );
    await Promise.all([service.close(), second.close()]);
  });

  it('is cut off at once and let in no more, and the others stay', async () => {
    const [gone, other] = [await connectAs(created('n2')), await connectAs(created('n3'))];
    const cut = cutOff(gone);
    await revokeAgentUsers(revoker, [keyOf(created('n2'))]);
    await cut;
    await isRefused(created('n2'));
    expect(other.connected).toBe(true);
    await connectAs(created('n3'));
    expect(await revokedAgentUsers(revoker, [keyOf(created('n2')), keyOf(created('n3'))])).toEqual([
      keyOf(created('n2')),
    ]);
  });

  it('is another one than its node gets when that is enrolled again', async () => {
    const again = await connectAs(await issueAgentCredentials(agents, 'n2'));
    expect(again.connected).toBe(true);
    await again.close();
    await isRefused(created('n2'));
  });

  it('stays out when NATS starts again, and when muster init has run', async () => {
    await nats.restart();
    await isRefused(created('n2'));
    await addAgentUsers(nats.dir, ['n4']);
    const accounts = readFileSync(join(nats.dir, 'nats-accounts.conf'), 'utf8');
    const jwt = new RegExp(`^ {2}${revoker.key.account}: (\\S+)$`, 'm').exec(accounts)?.[1] ?? '';
    expect(Object.keys(decode<Account>(jwt).nats.revocations ?? {})).toEqual([keyOf(created('n2'))]);
    await nats.restart();
    await isRefused(created('n2'));
    await connectAs(created('n4'));
    await connectAs(created('n3'));
  });

  it('stays out where it was revoked in the very second of a muster init', async () => {
    await pause(1000 - (Date.now() % 1000));
    await addAgentUsers(nats.dir, ['n6']);
    await nats.restart();
    await revokeAgentUsers(revoker, [keyOf(created('n6'))]);
    await nats.restart();
    await isRefused(created('n6'));
  });

  it('is one of all that are revoked at the same moment by several', async () => {
    const users = await Promise.all([1, 2, 3, 4].map(() => issueAgentCredentials(agents, 'n5')));
    await Promise.all(users.map((user) => revokeAgentUsers(revoker, [keyOf(user)])));
    expect((await revokedAgentUsers(revoker, users.map(keyOf))).sort()).toEqual(users.map(keyOf).sort());
  });
});

describe('the key of revocations', () => {
  it('is refused where it is none, without quoting it', () => {
    const file = join(nats.dir, 'keys/agents.key');
    expect(() => readRevokerKey(file)).toThrow(`the key file ${file} must hold a revoker's key`);
    expect(() => readRevokerKey(join(nats.dir, 'none'))).toThrow('cannot be read');
  });
});

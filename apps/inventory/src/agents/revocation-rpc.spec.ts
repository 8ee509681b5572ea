import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOf } from '#bus/testing/connection-of.js';
import { patient } from '#bus/testing/patient.js';
import { addAgentUsers, connectBus, credentialsFile, readCredentials, type Bus, type BusCredentials } from '#bus';
import {
  MusterError,
  Subjects,
  type AgentAdmission,
  type AgentEnrolRequest,
  type AgentUser,
  type EventMap,
  type NodeView,
  type RpcRequest,
} from '#contracts';
import { publicKeyOf } from '#contracts/keys/nkey.js';
import { RunningInventory, seen } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';

let sut: RunningInventory;
const open: Bus[] = [];

beforeAll(async () => {
  sut = await RunningInventory.start({
    agents: ['byhand-SN9', 'early-SN0'],
  });
  await sut.work('provisioner', ['ansible']);
  await addAgentUsers(sut.nats.dir, ['unseen-SN20', 'ghost-SN21', 'shown-SN22', 'quiet-SN30', 'near-SN31']);
});

afterAll(async () => {
  await Promise.all(open.map((bus) => bus.close()));
  await sut?.stop();
});

const gateway = (): Bus => sut.as('gateway');
const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
const makeToken = (token: string, o: { uses?: number } = {}) =>
  gateway().call('inventory.agentTokens.create', { by: 'ann', sha256: sha256(token), ttl: 60, ...o });
const host = (n: number, o: Partial<AgentEnrolRequest> = {}): AgentEnrolRequest => ({
  label: `host${n}`,
  serial: `SN${n}`,
  networks: { management: { address: `10.0.0.${n}` } },
  machine: `${n}`.repeat(32),
  ...o,
});
const admit = (token: string, h: AgentEnrolRequest): Promise<AgentAdmission> =>
  gateway().call('inventory.agents.admit', { sha256: sha256(token), host: h });
const connectAs = async (credentials: BusCredentials): Promise<Bus> => {
  const bus = patient(await connectBus({ name: credentials.user, servers: [sut.nats.url], credentials }));
  open.push(bus);
  return bus;
};
const arrive = async (enrolment: AgentAdmission): Promise<Bus> => {
  const agent = await connectAs(enrolment.credentials);
  await agent.ask(Subjects.peers(enrolment.node), {});
  return agent;
};
const revoke = (name: string, o: { force?: boolean } = {}) =>
  gateway().call('inventory.nodes.revoke', { by: 'ann', name, reason: 'stolen', ...o });
const node = (name: string): Promise<NodeView> => gateway().call('inventory.nodes.get', { name });
/** A node that was just deleted is on record until the view shows that it is gone. */
const createAgain = (node: RpcRequest<'inventory.nodes.create'>): Promise<unknown> =>
  until(
    () =>
      gateway()
        .call('inventory.nodes.create', node)
        .catch((e: unknown) => {
          if (MusterError.from(e).code === 'ALREADY_EXISTS') return undefined;
          throw e;
        }),
    'the node on record again',
  );
const refusedByNats = (credentials: BusCredentials): Promise<void> =>
  expect(connectAs(credentials)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
/** By a task that nobody waits for. */
const refusedSoon = (credentials: BusCredentials): Promise<true> =>
  until(async () => {
    try {
      await (await connectAs(credentials)).close();
      return false;
    } catch (e) {
      return MusterError.from(e).code === 'UNAUTHORIZED';
    }
  }, 'NATS to refuse its user');
/**
 * When NATS has ended the connection because its user was revoked. It would try again for ever, and each try signs for
 * so long that nothing else runs in this process.
 */
const cutOff = async (bus: Bus): Promise<void> => {
  for await (const s of connectionOf(bus).status())
    if (s.type === 'error' && /revoked/i.test(s.error.message)) return bus.close();
};
/** When inventory has noted that NATS refuses a user of the node. */
const noted = (name: string): Promise<void> =>
  new Promise((resolve) => {
    const watch = sut
      .as('inventory')
      .bucket<AgentUser>('settings')
      .watch({
        onChange: (_key, value) => {
          if (value?.node !== name || value.revoked === undefined) return;
          void watch.close();
          resolve();
        },
      });
  });

describe('a host that enrols itself', () => {
  it('is let in by a token, and told where its agent reaches NATS', async () => {
    const audited = new Promise<EventMap['audit']>((resolve) => {
      const reader = sut.as('gateway').follow([Subjects.event('audit', '*')], { fromSeq: 1 }, (_subject, event) => {
        const { data } = event as { data: EventMap['audit'] };
        if (data.action !== 'agent-enrol') return;
        resolve(data);
        void reader.close();
      });
    });
    const token = await makeToken('first');
    const admission = await admit('first', host(1));
    expect(admission).toMatchObject({ node: 'host1-SN1', nats: { management: ['nats://127.0.0.1:4222'] } });
    expect(admission.nats).not.toHaveProperty('backend');
    await arrive(admission);
    expect(await node('host1-SN1')).toMatchObject({ enrolled: true, machine: '1'.repeat(32) });
    const { items } = await gateway().call('inventory.agentTokens.list', {});
    expect(items).toEqual([{ ...token, usedBy: ['host1-SN1'] }]);
    expect(JSON.stringify(items)).not.toContain(sha256('first'));
    const by = `agent-token ${token.id} of ann`;
    expect(await audited).toMatchObject({ by, subject: 'host1-SN1', outcome: 'accepted' });
  });

  it('is refused by a token that nobody made, that was deleted, or that others have used up', async () => {
    await expect(admit('none', host(2))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const { id } = await makeToken('deleted');
    await gateway().call('inventory.agentTokens.delete', { by: 'ann', id });
    await expect(admit('deleted', host(2))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await makeToken('once')).toMatchObject({ uses: 1 });
    const both = await Promise.allSettled([admit('once', host(2)), admit('once', host(3))]);
    expect(both.map((b) => b.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is refused where a living node has its name, with an alarm, and has used nothing up', async () => {
    await makeToken('copy');
    const copy = host(1, { networks: { management: { address: '10.0.0.77' } } });
    await sut.verdict('host1-SN1', 'UP');
    await seen(sut.nodes, 'host1-SN1', (n) => n.state === 'Discovered');
    await expect(admit('copy', copy)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', facts: { node: 'host1-SN1' } });
    await until(
      async () =>
        (await gateway().call('inventory.alarms.list', {})).items.some(
          (a) => a.code === 'duplicate' && a.subject === 'host1-SN1',
        ),
      'an alarm about the duplicate',
    );
    const { agentKeys } = await node('host1-SN1');
    const { machine: _left, ...unsaid } = host(1);
    await expect(admit('copy', unsaid)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', facts: { node: 'host1-SN1' } });
    expect((await node('host1-SN1')).agentKeys).toEqual(agentKeys);
    await admit('copy', host(4));
  });
});

describe('an agent that is revoked', () => {
  it('is no member, is cut off by NATS and let in no more, and the others stay', async () => {
    await makeToken('pair', { uses: 2 });
    const [gone, stays] = [await admit('pair', host(5)), await admit('pair', host(6))];
    const [agent, other] = [await arrive(gone), await arrive(stays)];
    const cut = cutOff(agent);
    expect(await revoke('host5-SN5')).toEqual({ node: 'host5-SN5', users: 1 });
    await cut;
    await refusedByNats(gone.credentials);
    expect(await node('host5-SN5')).toMatchObject({ enrolled: false, state: 'Unknown', revoked: { by: 'ann' } });
    expect(await other.ask(Subjects.peers('host6-SN6'), {})).toMatchObject({ self: { name: 'host6-SN6' } });

    // The host may still have the token that let it in.
    await expect(admit('pair', host(5))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await makeToken('again');
    const again = await admit('again', host(5));
    await arrive(again);
    expect(await node('host5-SN5')).toMatchObject({ enrolled: true });
    expect((await node('host5-SN5')).revoked).toBeUndefined();
    await refusedByNats(gone.credentials);
  });

  it('may be one whose user was made by muster init', async () => {
    await gateway().call('inventory.nodes.create', {
      by: 'ann',
      node: { label: 'byhand', serial: 'SN9', networks: { management: { address: '10.0.0.9' } } },
    });
    const cut = cutOff(sut.as('agent=byhand-SN9'));
    expect(await revoke('byhand-SN9')).toEqual({ node: 'byhand-SN9', users: 1 });
    await cut;
    await refusedByNats(readCredentials(credentialsFile(sut.nats.dir, 'agent=byhand-SN9')));
  });

  it('stays while workloads are assigned to its node, unless that is forced', async () => {
    await makeToken('work');
    const admission = await admit('work', host(7));
    const agent = await arrive(admission);
    await gateway().call('inventory.workloads.put', {
      by: 'ann',
      name: 'db',
      workload: { desired: 'running', node: 'host7-SN7' },
    });
    await expect(revoke('host7-SN7')).rejects.toMatchObject({
      code: 'WORKLOADS_PRESENT',
      facts: { workloads: ['db'] },
    });
    expect(await node('host7-SN7')).toMatchObject({ enrolled: true });
    expect(agent.connected).toBe(true);
    const cut = cutOff(agent);
    expect(await revoke('host7-SN7', { force: true })).toMatchObject({ users: 1 });
    await cut;
    await refusedByNats(admission.credentials);
  });

  it('goes with its node when that is deleted or replaced, and comes back by a token that is made after that', async () => {
    await makeToken('delete', { uses: 5 });
    const remove = {
      'host8-SN8': () => gateway().call('inventory.nodes.delete', { by: 'ann', name: 'host8-SN8' }),
      'host40-SN40': () =>
        gateway().call('inventory.nodes.replace', {
          by: 'ann',
          name: 'host40-SN40',
          replacement: { serial: 'SN41', networks: { management: { address: '10.0.0.41' } } },
        }),
    };
    for (const [n, name] of [
      [8, 'host8-SN8'],
      [40, 'host40-SN40'],
    ] as const) {
      const admission = await admit('delete', host(n));
      const agent = await arrive(admission);
      const [cut, done] = [cutOff(agent), noted(name)];
      await remove[name]();
      await cut;
      await done;
      await refusedByNats(admission.credentials);
      // The host may still have the token that let it in.
      await expect(admit('delete', host(n))).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await makeToken(`fresh-${n}`);
      const again = await admit(`fresh-${n}`, host(n));
      await arrive(again);
      expect(await node(name)).toMatchObject({ enrolled: true });
      await refusedByNats(admission.credentials);
    }
  });

  const byHand = (label: string, n: number) => ({
    by: 'ann',
    node: { label, serial: `SN${n}`, networks: { management: { address: `10.0.0.${n}` } } },
  });
  const madeByInit = (name: string) => readCredentials(credentialsFile(sut.nats.dir, `agent=${name}`));

  it('goes with its node also where nobody has enrolled it: at once where it is connected', async () => {
    await gateway().call('inventory.nodes.create', byHand('near', 31));
    const cut = cutOff(await connectAs(madeByInit('near-SN31')));
    await gateway().call('inventory.nodes.delete', { by: 'ann', name: 'near-SN31' });
    await cut;
    // Well below the minute after which it would be looked for anyway.
  }, 20_000);

  it('goes with its node also where nobody has ever heard it: when it shows itself', async () => {
    await gateway().call('inventory.nodes.create', byHand('quiet', 30));
    await gateway().call('inventory.nodes.delete', { by: 'ann', name: 'quiet-SN30' });
    await createAgain(byHand('quiet', 30));
    const cut = cutOff(await connectAs(madeByInit('quiet-SN30')));
    await sut.restart('inventory-1');
    await cut;
    await refusedByNats(madeByInit('quiet-SN30'));
    expect((await node('quiet-SN30')).agentKeys).toBeUndefined();
  });
});

describe('an agent that was revoked', () => {
  it('stays so when its node is deleted: by an older token it is not let in again', async () => {
    await makeToken('older', { uses: 5 });
    await arrive(await admit('older', host(11)));
    await revoke('host11-SN11');
    await gateway().call('inventory.nodes.delete', { by: 'ann', name: 'host11-SN11' });
    await expect(admit('older', host(11))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await makeToken('newer');
    await arrive(await admit('newer', host(11)));
    await expect(admit('older', host(11))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('is refused by NATS when it shows itself for the first time, whatever has become of its record', async () => {
    const unseen = {
      by: 'ann',
      node: { label: 'unseen', serial: 'SN20', networks: { management: { address: '10.0.0.20' } } },
    };
    await gateway().call('inventory.nodes.create', unseen);
    expect(await revoke('unseen-SN20')).toEqual({ node: 'unseen-SN20', users: 0 });
    await gateway().call('inventory.nodes.delete', { by: 'ann', name: 'unseen-SN20' });
    await createAgain(unseen);

    await expect(revoke('ghost-SN21')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    expect(await revoke('ghost-SN21', { force: true })).toEqual({ node: 'ghost-SN21', users: 0, unregistered: true });

    const made = ['unseen-SN20', 'ghost-SN21'].map((name) =>
      readCredentials(credentialsFile(sut.nats.dir, `agent=${name}`)),
    );
    const cut = (await Promise.all(made.map(connectAs))).map(cutOff);
    await sut.restart('inventory-1');
    await Promise.all(cut);
    for (const credentials of made) await refusedByNats(credentials);
    expect((await node('unseen-SN20')).agentKeys).toBeUndefined();
  });

  it('needs no record where it is connected', async () => {
    const credentials = readCredentials(credentialsFile(sut.nats.dir, 'agent=shown-SN22'));
    const cut = cutOff(await connectAs(credentials));
    expect(await revoke('shown-SN22')).toEqual({ node: 'shown-SN22', users: 1, unregistered: true });
    await cut;
    await refusedByNats(credentials);
  });
});

describe('what NATS lets in', () => {
  it('is looked at when inventory starts: what NATS has lost is told again, and users of others are noted', async () => {
    await makeToken('lost');
    const admission = await admit('lost', host(3));
    const agent = await arrive(admission);
    const cut = cutOff(agent);
    await revoke('host3-SN3');
    await cut;
    await gateway().call('inventory.nodes.create', {
      by: 'ann',
      node: { label: 'early', serial: 'SN0', networks: { management: { address: '10.0.0.90' } } },
    });
    await sut.nats.kill();
    rmSync(join(sut.nats.dir, 'js/accounts'), { recursive: true });
    await sut.nats.restart();
    await (await connectAs(admission.credentials)).close();
    await sut.restart('inventory-1');
    const early = readCredentials(credentialsFile(sut.nats.dir, 'agent=early-SN0'));
    const { agentKeys } = await seen(sut.nodes, 'early-SN0', (n) => n.agentKeys !== undefined);
    expect(agentKeys).toEqual([publicKeyOf(early.seed)]);
    await refusedSoon(admission.credentials);
  });
});

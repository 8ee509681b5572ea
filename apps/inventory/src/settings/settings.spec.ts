import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMembers, type Closable } from '#bus';
import { DetectionProfiles, SETTINGS_KEY, type ClusterSettings, type MusterEvent } from '#contracts';
import { RunningInventory, seen } from '../testing/running-inventory.js';

let sut: RunningInventory;
let follower: Closable;
const told: MusterEvent[] = [];

beforeAll(async () => {
  sut = await RunningInventory.start();
  follower = sut.as('inventory').follow(['muster.event.settings.>', 'muster.event.audit.>'], {}, (_subject, e) => {
    told.push(e as MusterEvent);
  });
});
afterAll(async () => {
  await follower?.close();
  await sut?.stop();
});

const by = { by: 'ann' };
const patch = (p: Record<string, unknown>, revision?: number) =>
  sut.as('gateway').call('inventory.settings.patch', { ...by, patch: p, ...(revision !== undefined && { revision }) });
const atRest = async (): Promise<ClusterSettings | undefined> =>
  (await sut.as('inventory').bucket<ClusterSettings>('settings').get(SETTINGS_KEY))?.value;
const stored = async (): Promise<ClusterSettings | undefined> =>
  openMembers(Buffer.from('11'.repeat(32), 'hex'), await atRest());
const revision = async (): Promise<number> => (await sut.as('gateway').call('inventory.settings.get', {})).revision;

describe('the settings in a running inventory', () => {
  it('are patched, told by their paths, and shown without secrets', async () => {
    const hook = { name: 'pager', url: 'http://127.0.0.1:9/', secret: 'hook-s3cret' };
    const is = await patch({
      detection: { profile: 'fast' },
      globals: { db_password: 'glob-s3cret' },
      ansible: { extraVars: { vault_token: 'ansible-s3cret' } },
      webhooks: [hook],
    });
    expect(is).toMatchObject({
      detection: DetectionProfiles.fast,
      globals: { db_password: '***' },
      ansible: { extraVars: { vault_token: '***' } },
      webhooks: [{ ...hook, secret: '***' }],
    });
    expect(await stored()).toMatchObject({
      globals: { db_password: 'glob-s3cret' },
      ansible: { extraVars: { vault_token: 'ansible-s3cret' } },
      webhooks: [hook],
    });
    expect(JSON.stringify(await atRest())).not.toContain('s3cret');
    const again = await patch({ webhooks: is.webhooks, globals: is.globals });
    expect(again.revision).toBe(is.revision);
    expect((await stored())?.webhooks).toEqual([hook]);
    expect(
      await sut.as('gateway').call('inventory.globals.put', { ...by, extraVars: { db_password: '***', a: 1 } }),
    ).toEqual({
      extraVars: { db_password: '***', a: 1 },
    });
    expect((await stored())?.globals).toEqual({ db_password: 'glob-s3cret', a: 1 });
    // In order behind all of them.
    await patch({ leaveGrace: 5_000 });
    while (!JSON.stringify(told).includes('leaveGrace')) await sut.as('inventory').flushed();
    const events = told.filter((e) => e.kind === 'settings').map((e) => (e.data as { changed: string[] }).changed);
    expect(events.slice(0, 3)).toEqual([
      expect.arrayContaining(['detection.profile', 'globals.db_password', 'webhooks']),
      ['globals.a'],
      ['leaveGrace'],
    ]);
    expect(JSON.stringify(told)).not.toContain('s3cret');
  });

  it('are refused whole, on another revision, and where a route of its own is meant', async () => {
    const before = await revision();
    await expect(patch({ holdDown: 1, compat: { force: 'yes' } })).rejects.toMatchObject({ code: 'SETTINGS_INVALID' });
    await expect(patch({ holdDown: 1 }, before - 1)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    for (const fencing of [{ mode: 'enforce' }, { paused: { until: 1, reason: 'x', by: 'y' } }])
      await expect(patch({ holdDown: 1, fencing })).rejects.toThrow('PUT /v1/fencing');
    await expect(patch({ cluster: 'other' })).rejects.toThrow('muster.yaml');
    const paused = { until: Date.now() + 60_000, reason: 'a\nfencing is off' };
    await expect(
      sut.as('gateway').call('inventory.fencing.put', { ...by, mode: 'observe', paused }),
    ).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(await revision()).toBe(before);
    expect((await patch({ holdDown: 6_000, fencing: { mode: 'observe', hung: 'fence' } }, before)).holdDown).toBe(
      6_000,
    );
  });

  it('say what follows from DEGRADED, and are refused where a stale report could pass for a fresh one', async () => {
    expect((await patch({ degraded: { policy: 'drain' } })).degraded).toEqual({ policy: 'drain', after: 30_000 });
    await expect(patch({ detection: { profile: 'lan', freshness: 2_600 } })).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      facts: {
        findings: [expect.stringContaining('freshness (2600) must be at most the silence timeout − interval (2500)')],
      },
    });
    expect((await patch({ degraded: null })).degraded.policy).toBe('alarm');
  });

  it('tell of the mode of fencing too, which is set elsewhere', async () => {
    await sut.as('gateway').call('inventory.fencing.put', { ...by, mode: 'observe', storm: { flaps: 9 } });
    const last = () => told.filter((e) => e.kind === 'settings').at(-1)?.data;
    while (!JSON.stringify(last()).includes('flaps')) await sut.as('inventory').flushed();
    expect(last()).toEqual({ changed: ['fencing.storm.flaps'] });
  });

  it('remove a webhook with all that waits for it, by the rights that inventory has', async () => {
    await patch({ webhooks: [] });
    await expect(sut.as('inventory').removeConsumer('webhook-pager')).resolves.toBeUndefined();
  });

  it('keep a host group while a node is in it', async () => {
    await sut.work('provisioner', ['ansible']);
    const networks = { management: { address: '10.0.0.1' } };
    await sut.as('gateway').call('inventory.nodes.create', {
      ...by,
      node: { label: 'a', serial: '1', hostGroup: 'service-worker', networks },
    });
    await seen(sut.nodes, 'a-1', () => true);
    const only = [{ name: 'service-master', role: 'master' }];
    await expect(patch({ hostGroups: only })).rejects.toThrow(
      'service-worker cannot be removed while nodes are in it: a-1',
    );
  });

  it('take the Ansible part of a posted configuration, and show it from then on', async () => {
    const put = (config: unknown) => sut.as('gateway').call('inventory.config.put', { ...by, config });
    const config = { ansible: { playbook_location: '/srv/playbooks', extra_variables: '{"zone":1}' } };
    expect((await put(config)).config.ansible).toMatchObject(config.ansible);
    expect((await sut.as('gateway').call('inventory.config.get', {})).config.ansible).toMatchObject(config.ansible);
    expect((await stored())?.ansible).toEqual({ playbooks: '/srv/playbooks', extraVars: { zone: 1 } });
    const before = await revision();
    await expect(put({ ansible: { playbook_location: 'relative' } })).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining('ansible.playbook_location must be the absolute path') as unknown,
    });
    await expect(put({ ansible: { user: 'x' }, serf: { Addr: 'y' } })).rejects.toThrow('"serf" configuration can\'t');
    expect(await revision()).toBe(before);
  });
});

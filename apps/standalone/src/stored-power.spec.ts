import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectBus, type Bus } from '#bus';
import { anyJson } from '#bus/testing/any-json.js';
import { startTestNats } from '#bus/testing/nats.js';
import { patient } from '#bus/testing/patient.js';
import {
  drilledIdentity,
  type IncidentPhase,
  type IncidentRecord,
  type NodeRecord,
  type PowerRecord,
} from '#contracts';
import { buildConfig, startService } from '#service';
import { FencerModule } from '../../fencer/src/fencer.module.js';
import { InventoryModule } from '../../inventory/src/inventory.module.js';
import { FakeFleet } from '../../inventory/src/testing/fake-fleet.js';
import { until } from '../../inventory/src/testing/until.js';
import {
  FIXTURE_CLUSTER,
  FIXTURE_SECRETS_KEY,
  lastValues,
  loadStore,
  readStoredLines,
  type RecordedAnswers,
  type StoredLine,
} from './testing/stored-fleet.js';

const fixture = join(process.cwd(), 'test/fixtures/store/eb7662b');
/** A takeover of the fencer's lease, all levels, and the quarantine before a power-on. */
const LONG_MS = 120_000;

/** Power devices of all nodes: a program in the place of `ipmitool`, with what each was told. */
async function playPower(
  dir: string,
): Promise<{ set: (address: string, to: string) => Promise<void>; told: (address: string) => Promise<string[]> }> {
  const bmcs = join(dir, 'bmc');
  await mkdir(bmcs);
  await mkdir(join(dir, 'bin'));
  const program = join(dir, 'bin', 'ipmitool');
  await writeFile(
    program,
    `#!/bin/sh
[ "$1" = -V ] && { echo 'ipmitool version 1.8.19'; exit 0; }
while [ $# -gt 0 ]; do [ "$1" = -H ] && bmc=${bmcs}/$2; verb=$1; shift; done
echo $verb >>$bmc.told
case $verb in
  status) echo "Chassis Power is $(cat $bmc 2>/dev/null || echo on)";;
  off) echo off >$bmc; echo 'Chassis Power Control: Down/Off';;
  on) echo on >$bmc; echo 'Chassis Power Control: Up/On';;
  soft) echo 'Chassis Power Control: Soft';;
esac
`,
  );
  await chmod(program, 0o755);
  process.env['PATH'] = `${join(dir, 'bin')}:${process.env['PATH'] ?? ''}`;
  return {
    set: (address, to) => writeFile(join(bmcs, address), `${to}\n`),
    told: async (address) => {
      const text = await readFile(join(bmcs, `${address}.told`), 'utf8').catch(() => '');
      return text.split('\n').filter((verb) => ['off', 'on', 'soft'].includes(verb));
    },
  };
}

/** As after a drill of its device, which that commit knew nothing of: an off by another one is held for a person. */
function proven(line: StoredLine): StoredLine {
  if (line.bucket !== 'nodes' || line.value === null) return line;
  const node = line.value as NodeRecord;
  const device = node.powerLevels[0]?.[0];
  if (device === undefined) return line;
  return { ...line, value: { ...node, powerIdentity: { [device.id]: drilledIdentity({}, device, 1) } } };
}

describe('incidents and orders that commit eb7662b has stored, on a running inventory and a running fencer', () => {
  const ends: (() => Promise<unknown>)[] = [];
  let bus: Bus;
  let stored: Bus;
  let fleet: FakeFleet;
  let told: (node: string) => Promise<string[]>;
  const warnings: string[] = [];
  const warned = ({ name, message }: Error): void => {
    if (name === 'MaxListenersExceededWarning') warnings.push(message);
  };

  beforeAll(async () => {
    process.on('warning', warned);
    ends.push(() => Promise.resolve(process.off('warning', warned)));
    const lines = readStoredLines(await readFile(join(fixture, 'store.ndjson'), 'utf8')).map(proven);
    const { beacon } = JSON.parse(await readFile(join(fixture, 'answers.json'), 'utf8')) as RecordedAnswers;
    const nats = await startTestNats();
    ends.push(() => nats.stop());
    const dir = await mkdtemp(join(tmpdir(), 'muster-stored-power-'));
    ends.push(() => rm(dir, { recursive: true, force: true }));
    await writeFile(join(dir, 'secrets.key'), FIXTURE_SECRETS_KEY);
    const path = process.env['PATH'];
    const power = await playPower(dir);
    ends.push(() => Promise.resolve((process.env['PATH'] = path)));
    await loadStore(nats.url, lines);
    const nodes = Object.entries(lastValues(lines)).flatMap(([key, value]) =>
      key.startsWith('nodes ') ? [value as NodeRecord] : [],
    );
    const addressOf = new Map(nodes.map((n) => [n.name, n.powerLevels[0]?.[0]?.address ?? '']));
    told = (node) => power.told(addressOf.get(node) ?? '');
    for (const name of ['n-fenced', 'n-power-on-wanted', 'n-released', 'n-recovering'])
      await power.set(addressOf.get(name) ?? '', 'off');

    bus = patient(await connectBus({ name: 'spec', servers: [nats.url] }));
    stored = patient(await connectBus({ name: 'looks', servers: [nats.url], codec: anyJson }));
    ends.push(
      () => bus.close(),
      () => stored.close(),
    );
    const reporting = nodes.filter((n) => n.state !== 'Unknown' && n.status === 'Allocated').map((n) => n.name);
    fleet = await FakeFleet.open(nats.url, reporting);
    ends.push(() => fleet.close());
    fleet.epoch = 2;
    const dead = Object.entries(beacon.notUp).flatMap(([name, v]) => (v?.verdict === 'DOWN' ? [name] : []));
    await fleet.die(...dead);
    fleet.begin();
    for (const [service, module] of [
      ['inventory', InventoryModule],
      ['fencer', FencerModule],
    ] as const) {
      const config = buildConfig(
        {
          cluster: FIXTURE_CLUSTER,
          instance: `${service}-2`,
          dataDir: dir,
          logLevel: 'silent',
          keys: { secrets: join(dir, 'secrets.key') },
          nats: { servers: [nats.url] },
        },
        undefined,
        'spec',
      );
      const running = await startService(service, module, { config });
      ends.push(() => running.close());
    }
  }, 2 * LONG_MS);
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  const incident = async (
    node: string,
    what: string,
    fits: (i: IncidentRecord) => boolean,
  ): Promise<IncidentRecord> => {
    let last: IncidentRecord | undefined;
    const look = async (): Promise<IncidentRecord | false> => {
      last = (await bus.bucket<IncidentRecord>('incidents').get(node))?.value;
      return last !== undefined && fits(last) && last;
    };
    try {
      return await until(look, `${node} ${what}`, { timeoutMs: LONG_MS });
    } catch (e) {
      throw new Error(`it stayed ${last?.phase}: ${last?.steps.at(-1)?.detail} ${JSON.stringify(last?.order)}`, {
        cause: e,
      });
    }
  };
  const inPhase = (node: string, ...phases: IncidentPhase[]): Promise<IncidentRecord> =>
    incident(node, phases.join(' or '), (i) => phases.includes(i.phase));
  const storedNow = async (node: string): Promise<PowerRecord> =>
    (await stored.bucket<PowerRecord>('incidents').get(node))?.value as PowerRecord;

  it(
    'each is stored as a power record, also where nothing else happens to it: a fencer of before reads none of them',
    async () => {
      const all = await until(
        async () => {
          const entries = await stored.bucket<PowerRecord>('incidents').list();
          return entries.every((e) => e.value.schema === 2) && entries;
        },
        'every incident is a power record',
        { timeoutMs: LONG_MS },
      );
      expect(all.map((e) => e.key)).toEqual(expect.arrayContaining(['n-closed', 'n-order-done']));
    },
    LONG_MS,
  );

  it(
    'an order whose command was given and not ended is carried out, and needs no incident',
    async () => {
      const { commands } = await incident('n-order-pending', 'is dealt with', (i) => i.order?.done === true);
      expect(commands.map((c) => c.verb)).toContain('soft');
      expect(await told('n-order-pending')).toEqual(['soft']);
      expect(await storedNow('n-order-pending')).toMatchObject({
        schema: 2,
        order: {
          action: 'soft',
          phase: 'done',
          story: { steps: [{ detail: expect.stringContaining('to be moved') }] },
        },
      });
      expect(await storedNow('n-order-pending')).not.toHaveProperty('incident');
      expect(await told('n-order-done')).toEqual([]);
    },
    2 * LONG_MS,
  );

  it.each(['n-open', 'n-investigating', 'n-fencing', 'n-failed', 'n-fenced'])(
    '%s is proven off, recovered, and powered on after the quarantine',
    async (node) => {
      const i = await incident(node, 'is on', (now) => now.phase === 'recovered' && now.powerOn?.done === true);
      expect(i.powerOn).toMatchObject({ wanted: true, ok: true });
      expect(i.proof).toMatchObject({ kind: 'read-back' });
      expect((await told(node)).slice(-1)).toEqual(['on']);
      expect((await storedNow(node)).incident).toMatchObject({ id: i.id, phase: 'recovered' });
    },
    2 * LONG_MS,
  );

  it(
    'one that was wanted on is powered on, and not off again',
    async () => {
      await incident('n-power-on-wanted', 'is on', (i) => i.powerOn?.done === true);
      expect(await told('n-power-on-wanted')).toEqual(['on']);
      for (const node of ['n-released', 'n-confirmed'])
        expect((await inPhase(node, 'recovered')).powerOn?.wanted).toBe(false);
      expect(await told('n-released')).toEqual([]);
    },
    2 * LONG_MS,
  );

  it(
    'a cycle that waited at a gate is an off and then the on that was ordered, once its node is dead',
    async () => {
      expect((await storedNow('n-cycle')).order ?? {}).not.toMatchObject({ phase: 'done' });
      await fleet.die('n-cycle');
      const i = await incident('n-cycle', 'is cycled', (now) => now.order?.done === true);
      expect(i).toMatchObject({ phase: 'recovered', order: { action: 'on', ok: true } });
      expect(await told('n-cycle')).toEqual(['off', 'on']);
      const { schema, incident: part, order } = await storedNow('n-cycle');
      expect({ schema, order }).toMatchObject({ schema: 2, order: { action: 'on', phase: 'done' } });
      expect(part).not.toHaveProperty('order');
    },
    2 * LONG_MS,
  );

  it('so many fencings at once are not reported as a leak', () => {
    expect(warnings).toEqual([]);
  });
});

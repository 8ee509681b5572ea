import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Containers as Services, shownFiles } from '#bus/init/shown-files.js';
import { until } from '../../../lab/src/until.js';
import { blocksOf } from '../quickstart/blocks.js';
import { BootedMachine } from './booted-machine.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = 'docs/systemd.md';
const TARGET = 'muster-control.target';
const unitOf = (service: string): string => `muster-control-${service}.service`;
const units = Services.map(unitOf);

/** Until a service that was started is up, on a busy machine, ms. */
const UP_MS = 90_000;
/** WatchdogSec, and as much again for the next start, ms. */
const WATCHDOG_MS = 30_000 + UP_MS;

const booted = await BootedMachine.boot(root);
const name = 'the units of a control machine, in a booted container';

(typeof booted === 'string' ? describe.skip : describe)(
  typeof booted === 'string' ? `${name} (skipped: ${booted})` : name,
  () => {
    const machine = booted as BootedMachine;
    afterAll(() => machine.end());

    const muster = (...args: string[]) => machine.run('/opt/muster/bin/muster.mjs', ...args);
    async function shown(unit: string, ...properties: string[]): Promise<Record<string, string>> {
      const lines = (await machine.run('systemctl', 'show', '-p', properties.join(), unit)).split('\n');
      return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
    }
    const each = async <T>(of: (unit: string, service: (typeof Services)[number]) => Promise<T>) =>
      Object.fromEntries(await Promise.all(Services.map(async (s) => [s, await of(unitOf(s), s)] as const)));
    const all = <T>(value: T) => Object.fromEntries(Services.map((service) => [service, value]));
    const states = () => each(async (unit) => (await shown(unit, 'ActiveState'))['ActiveState']);
    const restarts = () => each(async (unit) => Number((await shown(unit, 'NRestarts'))['NRestarts']));
    /** Resolves when each unit is up, and Muster answers with both of its workers. */
    async function allUp(): Promise<void> {
      await until('every unit to be up', UP_MS, async () => {
        expect(await states()).toEqual(all('active'));
        return true;
      }, 500); // prettier-ignore
      await until('Muster to answer', UP_MS, async () => {
        const { items } = JSON.parse(await muster('workers', '-j')) as { items: { service: string }[] };
        expect(items.map(({ service }) => service).sort()).toEqual(['fencer', 'provisioner']);
        return true;
      }, 500); // prettier-ignore
    }

    beforeAll(async () => {
      const [install] = blocksOf(PAGE, readFileSync(join(root, PAGE), 'utf8'));
      await machine.run('bash', '-euo', 'pipefail', '-c', install!.text);
      await allUp();
    });

    it('are up when they were installed as the page says, and nothing is broken', async () => {
      const { findings } = JSON.parse(
        (await machine.tryRun('sh', '-c', '/opt/muster/bin/muster.mjs doctor --dir /etc/muster -j || true')) ?? '',
      ) as { findings: { state: string; check: string }[] };
      expect(findings.filter(({ state }) => state === 'bad')).toEqual([]);
      expect(findings.map(({ check }) => check)).toContain('worker.drivers');
    });

    it('run as a user without rights; the detector has what ping needs, and nobody else anything', async () => {
      const NET_RAW = '0000000000002000';
      const uid = (await machine.run('id', '-u', 'muster')).trim();
      const rights = await each(async (unit) => {
        const { MainPID } = await shown(unit, 'MainPID');
        const status = await machine.run('cat', `/proc/${MainPID}/status`);
        const of = (field: string): string => new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
        return [of('Uid'), of('CapEff'), of('NoNewPrivs'), of('Seccomp')];
      });
      const none = '0'.repeat(16);
      expect(rights).toEqual({ ...all([uid, none, '1', '2']), detector: [uid, NET_RAW, '1', '2'] });
    });

    it('see the files of their own service in /etc/muster, and write to their own folder alone', async () => {
      const uid = (await machine.run('id', '-u', 'muster')).trim();
      const seen = await each(async (unit, service) => {
        const { MainPID } = await shown(unit, 'MainPID');
        const files = await machine.run('find', `/proc/${MainPID}/root/etc/muster`, '-type', 'f', '-printf', '%P\n');
        const folders = ['/etc/muster', '/var/lib/muster', '/opt/muster', '/usr', `/var/lib/muster/${service}`];
        const script = 'for d; do if touch "$d/written" 2> /dev/null; then echo "$d"; rm "$d/written"; fi; done';
        const written = await machine.run('nsenter', '-t', MainPID!, '-m', '-S', uid, 'sh', '-c', script, 'sh', ...folders); // prettier-ignore
        return { files: files.split('\n').sort(), written: written.split('\n') };
      });
      const there = (await machine.run('find', '/etc/muster', '-type', 'f', '-printf', '%P\n')).split('\n');
      for (const service of Services) {
        const files = there.filter((f) => ['muster.yaml', ...shownFiles[service]].some((s) => f === s || f.startsWith(`${s}/`))); // prettier-ignore
        expect([service, seen[service]]).toEqual([service, { files: files.sort(), written: [`/var/lib/muster/${service}`] }]); // prettier-ignore
      }
    });

    it('are started again, each of them, when they are killed', async () => {
      const before = await restarts();
      await machine.run('systemctl', 'kill', '-s', 'KILL', ...units);
      await until('each to be started again', UP_MS, async () => {
        const now = await restarts();
        return Services.every((service) => now[service]! > before[service]!) ? true : undefined;
      }, 500); // prettier-ignore
      await allUp();
    });

    it('are killed by their watchdog, and started again, when they stand still', async () => {
      const before = await restarts();
      const still = Services.filter((service) => service !== 'nats');
      await machine.run('systemctl', 'kill', '-s', 'STOP', ...still.map(unitOf));
      await until('each to be started again', WATCHDOG_MS, async () => {
        const now = await restarts();
        return still.every((service) => now[service]! > before[service]!) ? true : undefined;
      }, 500); // prettier-ignore
      const journal = await machine.run('journalctl', '--no-pager', '-o', 'cat', '-u', 'muster-control-*');
      for (const service of still) expect(journal).toContain(`${unitOf(service)}: Watchdog timeout (limit 30s)!`);
      await allUp();
    });

    it('end in good order with their target, and come up by themselves when the machine is booted', async () => {
      await machine.run('systemctl', 'stop', TARGET);
      await until('each to have ended', UP_MS, async () => {
        expect(await states()).toEqual(all('inactive'));
        return true;
      }, 500); // prettier-ignore
      expect(await each((unit) => shown(unit, 'Result', 'ExecMainStatus'))).toEqual(
        all({ Result: 'success', ExecMainStatus: '0' }),
      );
      await machine.reboot();
      await allUp();
    });
  },
);

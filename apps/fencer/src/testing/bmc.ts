import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { daemon } from '#bus/testing/daemon.js';
import { freeUdpPort } from '#bus/testing/free-port.js';
import type { PowerDevice } from '#contracts';

/** Faults of the hook; see bmc-hook.sh. */
export type BmcFault = 'stuck_on' | 'fail_get' | 'slow' | 'answers';

/** A real BMC protocol peer (ipmi_sim) with user `admin`, password `s3cret`. */
export interface TestBmc {
  device: PowerDevice;
  /** What reached the chassis: `get power`, `set power 0`, … */
  log(): string[];
  power(): 'on' | 'off';
  setPower(power: 'on' | 'off'): void;
  fault(name: BmcFault, value?: string): void;
  heal(): void;
  /** Ends it at once; it is silent from then on. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const HOOK = join(process.cwd(), 'apps/fencer/src/testing/bmc-hook.sh');
const EMULATOR = [
  'mc_setbmc 0x20',
  'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02',
  'sel_enable 0x20 100 0x0a',
  'mc_enable 0x20',
];

/** @param guid it says so when it is asked who it is; with zeros it says nothing, as many do */
export async function startBmc(id = 'bmc', guid = 'a123456789abcdefa123456789abcdef'): Promise<TestBmc> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bmc-'));
  const port = await freeUdpPort();
  const file = (name: string): string => join(dir, name);
  const auth = ['callback', 'user', 'operator', 'admin'].map((who) => `allowed_auths_${who} none md2 md5 straight`);
  await writeFile(
    file('lan.conf'),
    [
      `name "${id}"`,
      'set_working_mc 0x20',
      'startlan 1',
      `addr 127.0.0.1 ${port}`,
      'priv_limit admin',
      ...auth,
      `guid ${guid}`,
      'endlan',
      `chassis_control "${HOOK} ${dir}"`,
      'user 1 true "" "test" user 10 none md2 md5 straight',
      'user 2 true "admin" "s3cret" admin 10 none md2 md5 straight',
      '',
    ].join('\n'),
  );
  await writeFile(file('sim.emu'), `${[...EMULATOR, `mc_set_guid 0x20 ${guid}`].join('\n')}\n`);
  await writeFile(file('power'), '1\n');
  await writeFile(file('log'), '');
  await mkdir(file('state'));
  const sim = daemon('ipmi_sim', ['-c', file('lan.conf'), '-f', file('sim.emu'), '-s', file('state'), '-n'], {
    stdio: 'ignore',
    detached: true,
  });
  const kill = async (): Promise<void> => {
    if (sim.pid === undefined || sim.exitCode !== null || sim.signalCode !== null) return;
    process.kill(-sim.pid, 'SIGKILL');
    await sim;
  };
  await whenOpen(port);
  return {
    device: {
      id,
      driver: 'ipmitool',
      address: '127.0.0.1',
      port,
      username: 'admin',
      secret: `spec=${id}`,
    },
    log: () =>
      readFileSync(file('log'), 'utf8')
        .split('\n')
        .map((l) => l.trim())
        .filter((l) => l !== ''),
    power: () => (readFileSync(file('power'), 'utf8').trim() === '1' ? 'on' : 'off'),
    setPower: (power) => writeFileSync(file('power'), power === 'on' ? '1\n' : '0\n'),
    fault: (name, value = '1') => writeFileSync(file(name), value),
    heal: () => {
      for (const name of ['stuck_on', 'fail_get', 'slow', 'answers']) rmSync(file(name), { force: true });
    },
    kill,
    stop: async () => {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** ipmi_sim has opened its port when the kernel lists it. */
async function whenOpen(port: number): Promise<void> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  for (let i = 0; i < 1200; i++) {
    if (readFileSync('/proc/net/udp', 'utf8').includes(wanted)) return;
    await pause(25);
  }
  throw new Error(`ipmi_sim did not open port ${port} within 30 s`);
}

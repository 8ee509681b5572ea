import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { MusterError } from '#contracts';
import type { LabFolder } from './folder.js';
import { fruBytes, type Hardware } from './hardware.js';
import { hostOf, type HostPlan, type LabPlan } from './plan.js';
import { type ProcessRecord, type Processes, startOf } from './processes.js';
import { PYTHON } from './python.js';
import { bmcPassword } from './secrets.js';
import { Hopeless, until } from './until.js';

export const BMC_USER = 'muster';

const bmcProcess = (host: HostPlan): string => `bmc-${host.name}`;

/** What answers at a host's BMC address. */
export interface Wiring {
  /** The host whose power it switches. */
  host: string;
  /** The host whose GUID and serial numbers it tells; `none`: zeros, and no board. */
  identity: string;
}

export const ownWiring = (host: HostPlan): Wiring => ({ host: host.name, identity: host.name });
const wiringFile = (folder: LabFolder, host: HostPlan): string => folder.at('bmc', host.name, 'wiring.json');

const wiringOf = (folder: LabFolder, host: HostPlan): Wiring =>
  existsSync(wiringFile(folder, host))
    ? (JSON.parse(readFileSync(wiringFile(folder, host), 'utf8')) as Wiring)
    : ownWiring(host);

export const isMiswired = (folder: LabFolder, host: HostPlan): boolean =>
  !isDeepStrictEqual(wiringOf(folder, host), ownWiring(host));

/** Files of one BMC, as ipmi_sim and its hook read them. The password is in lan.conf alone. */
export function writeBmc(folder: LabFolder, plan: LabPlan, host: HostPlan, password: string): void {
  const dir = folder.at('bmc', host.name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(`${dir}/power`, 'on\n');
  writeWiring(folder, plan, host, ownWiring(host), password);
}

/** State, faults and log of a BMC are those of the machine that it is in, at whichever address it answers. */
function writeWiring(folder: LabFolder, plan: LabPlan, host: HostPlan, wiring: Wiring, password: string): void {
  const dir = folder.at('bmc', host.name);
  const body = hostOf(plan, wiring.host).name;
  rmSync(`${dir}/state`, { recursive: true, force: true });
  mkdirSync(`${dir}/state`, { recursive: true });
  const hook = `${dir}/chassis`;
  const dirs = `${folder.at('bmc', body)} ${folder.host(body)}`;
  const command = `${PYTHON} -I -S ${folder.at('lib', 'chassis.py')} ${dirs} ${host.name}`;
  writeFileSync(hook, `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(hook, 0o755);
  const hardware = wiring.identity === 'none' ? undefined : hostOf(plan, wiring.identity).hardware;
  writeFileSync(`${dir}/lan.conf`, lanConf(host, hook, password, hardware?.guid ?? NO_GUID), { mode: 0o600 });
  writeFileSync(`${dir}/sim.emu`, emulator(hardware));
  writeFileSync(wiringFile(folder, host), JSON.stringify(wiring));
}

/** Another BMC answers at the host's address from now on. */
export async function rewire(
  folder: LabFolder,
  processes: Processes,
  plan: LabPlan,
  host: HostPlan,
  wiring: Wiring,
): Promise<void> {
  if (bmcAlive(processes, host)) await killBmc(processes, host);
  writeWiring(folder, plan, host, wiring, bmcPassword(folder));
  await startBmc(folder, processes, plan, host);
}

const NO_GUID = '0'.repeat(32);

function emulator(hardware: Hardware | undefined): string {
  const fru = hardware && fruBytes(hardware);
  return [
    'mc_setbmc 0x20',
    'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02',
    'sel_enable 0x20 100 0x0a',
    `mc_set_guid 0x20 ${hardware?.guid ?? NO_GUID}`,
    ...(fru
      ? [`mc_add_fru_data 0x20 0 ${fru.length} data ${fru.map((byte) => `0x${byte.toString(16)}`).join(' ')}`]
      : []),
    'mc_enable 0x20',
    '',
  ].join('\n');
}

const lanConf = (host: HostPlan, hook: string, password: string, guid: string): string => `name "${host.name}"
set_working_mc 0x20
  startlan 1
    addr ${host.bmc.address} ${host.bmc.port}
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid ${guid}
  endlan
  chassis_control "${hook}"
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "${BMC_USER}" "${password}" admin 10 none md2 md5 straight
`;

/** Its own ipmi_sim; resolves when its UDP port is open. */
export async function startBmc(
  folder: LabFolder,
  processes: Processes,
  plan: LabPlan,
  host: HostPlan,
): Promise<ProcessRecord> {
  const dir = folder.at('bmc', host.name);
  const record = processes.start({
    name: bmcProcess(host),
    argv: ['/usr/bin/ipmi_sim', '-c', `${dir}/lan.conf`, '-f', `${dir}/sim.emu`, '-s', `${dir}/state`, '-n'],
    ...(plan.namespaces && { netns: plan.namespaces.bmc }),
  });
  const port = `:${host.bmc.port.toString(16).toUpperCase().padStart(4, '0')} `;
  await until(`the BMC of ${host.name} to listen; see ${record.log}`, 30_000, () => {
    if (startOf(record.pid) !== record.start)
      throw new Hopeless(
        new MusterError('COMMAND_FAILED', `ipmi_sim ended: ${readFileSync(record.log, 'utf8').trim()}`),
      );
    return readFileSync(`/proc/${record.pid}/net/udp`, 'utf8').includes(port) ? true : undefined;
  });
  return record;
}

export const killBmc = (processes: Processes, host: HostPlan): Promise<ProcessRecord> =>
  processes.kill(bmcProcess(host));
export const bmcAlive = (processes: Processes, host: HostPlan): boolean =>
  processes.alive(bmcProcess(host)) !== undefined;

export const powerOf = (folder: LabFolder, host: HostPlan): 'on' | 'off' =>
  existsSync(folder.at('bmc', host.name, 'power')) &&
  readFileSync(folder.at('bmc', host.name, 'power'), 'utf8').trim() === 'on'
    ? 'on'
    : 'off';

/** Someone presses the button: the BMC sees it, and logs nothing. */
export const setPower = (folder: LabFolder, host: HostPlan, state: 'on' | 'off'): void =>
  writeFileSync(folder.at('bmc', host.name, 'power'), `${state}\n`);

const FAULTS: Record<string, string> = {
  stuck_on: 'stuck_on',
  'hold=get': 'hold_get',
  'hold=set': 'hold_set',
  'fail=get': 'fail_get',
  'fail=set': 'fail_set',
};
/** `wired-to` HOST: that one's BMC is at its address; `swap` HOST: they have each other's; `no-identity`, `clone` HOST: what it tells of itself. */
const WIRING_WORDS = ['wired-to HOST', 'swap HOST', 'clone HOST', 'no-identity', 'own'];

const BMC_WORDS = [...Object.keys(FAULTS), 'delay=SECONDS', 'release', 'ok', 'dead', 'alive', ...WIRING_WORDS].join(
  ', ',
);

/**
 * Faults are files that the hook looks at in each call, so that they can be placed exactly. `release` lets go what is
 * held and leaves the rest; `ok` ends every fault. BAD_REQUEST for a word that is none of these.
 */
export function setFault(folder: LabFolder, host: HostPlan, word: string): void {
  const file = (name: string): string => folder.at('bmc', host.name, name);
  const clear = (names: readonly string[]): void => names.forEach((n) => rmSync(file(n), { force: true }));
  const delay = /^delay=(\d+(?:\.\d+)?)$/.exec(word)?.[1];
  const fault = FAULTS[word];
  if (word === 'release') clear(['hold_get', 'hold_set']);
  else if (word === 'ok') clear([...Object.values(FAULTS), 'delay_set']);
  else if (delay !== undefined) writeFileSync(file('delay_set'), delay);
  else if (fault !== undefined) writeFileSync(file(fault), '');
  else throw new MusterError('BAD_REQUEST', `a BMC knows no "${word}"; it knows ${BMC_WORDS}`);
}

/** New wirings by the host at whose address they are; undefined: the word is about something else. BAD_REQUEST without a HOST. */
export function wiringsFor(
  folder: LabFolder,
  host: HostPlan,
  word: string,
  other: HostPlan | undefined,
): [HostPlan, Wiring][] | undefined {
  const now = wiringOf(folder, host);
  if (word === 'own') return [[host, ownWiring(host)]];
  if (word === 'no-identity') return [[host, { ...now, identity: 'none' }]];
  if (!['wired-to', 'swap', 'clone'].includes(word)) return undefined;
  if (other === undefined || other.name === host.name)
    throw new MusterError('BAD_REQUEST', `bmc ${host.name} ${word} takes another host`);
  if (word === 'clone') return [[host, { ...now, identity: other.name }]];
  const theirs = wiringOf(folder, other);
  return word === 'swap'
    ? [
        [host, theirs],
        [other, now],
      ]
    : [[host, theirs]];
}

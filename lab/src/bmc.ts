import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import type { LabFolder } from './folder.js';
import type { HostPlan, LabPlan } from './plan.js';
import { type ProcessRecord, type Processes, startOf } from './processes.js';
import { PYTHON } from './python.js';
import { Hopeless, until } from './until.js';

export const BMC_USER = 'muster';

const bmcProcess = (host: HostPlan): string => `bmc-${host.name}`;

/** Files of one BMC, as ipmi_sim and its hook read them. The password is in lan.conf alone. */
export function writeBmc(folder: LabFolder, host: HostPlan, password: string): void {
  const dir = folder.at('bmc', host.name);
  mkdirSync(`${dir}/state`, { recursive: true });
  const hook = `${dir}/chassis`;
  const command = `${PYTHON} -I -S ${folder.at('lib', 'chassis.py')} ${dir} ${folder.host(host.name)}`;
  writeFileSync(hook, `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(hook, 0o755);
  writeFileSync(`${dir}/power`, 'on\n');
  writeFileSync(`${dir}/lan.conf`, lanConf(host, hook, password), { mode: 0o600 });
  writeFileSync(
    `${dir}/sim.emu`,
    'mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\nsel_enable 0x20 100 0x0a\nmc_enable 0x20\n',
  );
}

const lanConf = (host: HostPlan, hook: string, password: string): string => `name "${host.name}"
set_working_mc 0x20
  startlan 1
    addr ${host.bmc.address} ${host.bmc.port}
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid ${host.n.toString(16).padStart(32, 'a')}
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
export const BMC_WORDS = [...Object.keys(FAULTS), 'delay=SECONDS', 'release', 'ok', 'dead', 'alive'].join(', ');

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

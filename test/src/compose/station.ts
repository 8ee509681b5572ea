import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { daemon, type Daemon } from '../../../libs/bus/src/testing/daemon.js';
import { until } from '../../../lab/src/until.js';
import { type ControlMachine, station } from './control-machine.js';

/** Of the BMC at the station; its user is `muster`. */
export const bmcPassword = 'not-secret-here';
const START_MS = 30_000;

/** Real peers for the hands of the control machine, at the station on the management network: a BMC and an sshd. */
export class Station {
  private readonly running: Daemon[] = [];

  /** @param dir where their files are */
  constructor(
    private readonly machine: ControlMachine,
    private readonly dir: string,
  ) {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  }

  /** `ipmi_sim`, whose chassis says that it is on; nothing hangs on it. */
  async startBmc(): Promise<void> {
    const hook = join(this.dir, 'chassis');
    writeFileSync(hook, '#!/bin/sh\nif [ "$1 $2" = "get power" ]; then echo power:1; fi\n');
    chmodSync(hook, 0o755);
    const conf = join(this.dir, 'lan.conf');
    writeFileSync(conf, lanConf(hook), { mode: 0o600 });
    const emulator = join(this.dir, 'sim.emu');
    writeFileSync(emulator, EMULATOR);
    mkdirSync(join(this.dir, 'state'));
    this.start('ipmi_sim', ['-c', conf, '-f', emulator, '-s', join(this.dir, 'state'), '-n']);
    await this.listens('-u', 623);
  }

  /** Lets root in by this public key; what is asked of it runs on this machine. */
  async startSsh(authorized: string): Promise<void> {
    const key = join(this.dir, 'host_key');
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const keys = join(this.dir, 'authorized_keys');
    writeFileSync(keys, `${authorized}\n`, { mode: 0o600 });
    mkdirSync('/run/sshd', { recursive: true });
    const options = {
      HostKey: key,
      ListenAddress: station.management,
      Port: '22',
      AuthorizedKeysFile: keys,
      StrictModes: 'no',
      PermitRootLogin: 'prohibit-password',
      PasswordAuthentication: 'no',
      UsePAM: 'no',
      PidFile: 'none',
    };
    const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    this.start('/usr/sbin/sshd', ['-D', '-e', '-f', '/dev/null', ...args]);
    await this.listens('-t', 22);
  }

  async stop(): Promise<void> {
    for (const process of this.running) process.kill('SIGKILL');
    await Promise.all(this.running.splice(0));
  }

  private start(command: string, args: readonly string[]): void {
    const log = { file: join(this.dir, 'log'), append: true } as const;
    const enter = [`--net=/run/netns/${this.machine.outside}`, command, ...args];
    this.running.push(daemon('nsenter', enter, { stdin: 'ignore', stdout: log, stderr: log, extendEnv: true }));
  }

  private listens(kind: '-t' | '-u', port: number): Promise<true> {
    return until(`port ${port} of the station`, START_MS, async () => {
      const sockets = await this.machine.on('station', 'ss', ['-Hln', kind]);
      return new RegExp(`:${port}\\s`).test(sockets) ? true : undefined;
    });
  }
}

const EMULATOR = [
  'mc_setbmc 0x20',
  'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02',
  'sel_enable 0x20 100 0x0a',
  'mc_enable 0x20',
  '',
].join('\n');

const lanConf = (hook: string): string => `name "station"
set_working_mc 0x20
  startlan 1
    addr ${station.management} 623
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "${hook}"
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "muster" "${bmcPassword}" admin 10 none md2 md5 straight
`;

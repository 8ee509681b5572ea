import { existsSync } from 'node:fs';
import { execa } from 'execa';
import { ip, removeNetns } from './netns.js';
import { openPorts } from './open-ports.js';

/** Its addresses, which are those that the lab has for a machine outside, and of a station that is on both networks with it. */
export const addresses = { management: '10.77.1.1', backend: '10.77.2.1' };
export const station = { management: '10.77.1.99', backend: '10.77.2.99' };

/** A machine as the engine sees it: loopback and two networks; and a station outside, on the other end of both. */
export class ControlMachine {
  readonly netns = `mcontrol${process.pid}`;
  readonly outside = `moutside${process.pid}`;

  get isThere(): boolean {
    return existsSync(`/run/netns/${this.netns}`);
  }

  async make(): Promise<void> {
    for (const name of [this.netns, this.outside]) {
      await ip('netns', 'add', name);
      await ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    await this.plug();
  }

  /** Cables from the machine to the station, one on each network. */
  async plug(): Promise<void> {
    for (const network of ['management', 'backend'] as const) {
      const [here, there] = [network.slice(0, 4), `${network.slice(0, 4)}-out`];
      await ip('-n', this.netns, 'link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', this.outside);
      await ip('-n', this.netns, 'addr', 'add', `${addresses[network]}/24`, 'dev', here);
      await ip('-n', this.outside, 'addr', 'add', `${station[network]}/24`, 'dev', there);
      await ip('-n', this.netns, 'link', 'set', here, 'up');
      await ip('-n', this.outside, 'link', 'set', there, 'up');
    }
  }

  /** These cables are pulled, and with them go the machine's addresses: until others come that have them. */
  async unplug(): Promise<void> {
    for (const network of ['management', 'backend'] as const)
      await ip('-n', this.netns, 'link', 'del', network.slice(0, 4));
  }

  /** Cables again where a lab has taken its own with it, and with those the addresses that the machine had. */
  async plugAgain(): Promise<void> {
    const { stdout } = await ip('-n', this.netns, '-o', 'address', 'show', 'to', addresses.management);
    if (stdout === '') await this.plug();
  }

  async remove(): Promise<void> {
    for (const name of [this.netns, this.outside]) await removeNetns(name);
  }

  /** Runs a program on the machine, or at the station. */
  on(where: 'machine' | 'station', command: string, args: readonly string[], input = ''): Promise<string> {
    return this.run(where, command, args, input).then(({ stdout }) => stdout);
  }

  /** As {@link on}, also where the program fails, if only it answers. */
  async answer(where: 'machine' | 'station', command: string, args: readonly string[], input = ''): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(where, command, args, input, false);
    if (exitCode !== 0 && stdout === '')
      throw new Error(`${command} ${args.join(' ')}: exit ${exitCode}: ${stderr.slice(-2_000)}`);
    return stdout;
  }

  /** What a command begins with that is to run there. */
  to(where: 'machine' | 'station'): readonly [string, ...string[]] {
    return ['nsenter', `--net=/run/netns/${where === 'machine' ? this.netns : this.outside}`];
  }

  private run(where: 'machine' | 'station', command: string, args: readonly string[], input: string, reject = true) {
    const [enter, ...entering] = this.to(where);
    return execa(enter, [...entering, command, ...args], { input, reject });
  }

  /** TCP ports of `address` that let somebody in who tries each of them. */
  openPorts(where: 'machine' | 'station', address: string): Promise<number[]> {
    return openPorts(this.to(where), address);
  }
}

import { execa } from 'execa';
import type { ControlHost } from '#bus';
import { ip, removeNetns } from '../netns.js';

const Networks = ['management', 'backend'] as const;
export type Network = (typeof Networks)[number];

/** Two networks that hosts hang on by cables, in a namespace of their own: a bridge each, at which one can be, too. */
export class Switch {
  readonly netns = `mswitch${process.pid}`;
  /** What a command begins with that is to run there. */
  readonly enter = ['nsenter', `--net=/run/netns/${this.netns}`] as const;
  private cables = 0;

  /** @param own its own addresses */
  constructor(private readonly own: Record<Network, string>) {}

  async make(): Promise<void> {
    await ip('netns', 'add', this.netns);
    await ip('-n', this.netns, 'link', 'set', 'lo', 'up');
    for (const network of Networks) {
      await ip('-n', this.netns, 'link', 'add', network, 'type', 'bridge');
      await ip('-n', this.netns, 'addr', 'add', `${this.own[network]}/24`, 'dev', network);
      await ip('-n', this.netns, 'link', 'set', network, 'up');
    }
  }

  /**
   * A cable of each network to a machine, which gets its addresses; they go when its namespace goes.
   * @param init process of the machine
   */
  async plug(init: number, host: ControlHost): Promise<void> {
    for (const network of Networks) {
      // The one before may not have gone yet.
      const port = `${network.slice(0, 4)}${this.cables++}`;
      const cable = ['link', 'add', port, 'type', 'veth', 'peer', 'name', network, 'netns', String(init)];
      await ip('-n', this.netns, ...cable);
      await ip('-n', this.netns, 'link', 'set', port, 'master', network, 'up');
      const there = ['--target', String(init), '--net', 'ip'];
      await execa('nsenter', [...there, 'addr', 'add', `${host[network]}/24`, 'dev', network]);
      await execa('nsenter', [...there, 'link', 'set', network, 'up']);
    }
  }

  async remove(): Promise<void> {
    await removeNetns(this.netns);
  }
}

import type { Bus } from '#bus';
import { SETTINGS_KEY, type ClusterSettings, type NodeRecord } from '#contracts';
import { mayPower } from '#domain/power/may-power.js';
import type { PowerWish } from '#domain/power/power-wish.js';

/** What forbids to switch the power of one node outside of a fencing: a pause, mode observe, a cordon. */
export class PowerHold {
  private logged: string | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly node: string,
  ) {}

  /**
   * Why it may not be switched now; undefined where it may. The settings are read anew each time, and logged is what has
   * changed: nobody writes the incident when a node is cordoned or a pause ends. A cordon does not stand against an
   * operator's own order.
   * @param node its record as of now
   */
  async reason(node: NodeRecord | undefined, wish: PowerWish): Promise<string | undefined> {
    const settings = await this.bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY);
    const orderer = wish.orderer === 'operator' ? 'operator' : 'system';
    const permission = mayPower(orderer, settings?.value.fencing, node, this.bus.clock.wallMs());
    const hold = permission.may ? undefined : permission.detail;
    if (hold !== undefined && hold !== this.logged)
      this.bus.log.info({ node: this.node, reason: hold }, 'its power is not switched for now');
    this.logged = hold;
    return hold;
  }
}

import type { Scenario } from '../../scenario.js';
import { alarmCleared, alarmRaised, lasts, Watch } from '../../watch.js';

const LOSS_MS = 600_000;
const HEAVY_LOSS_MS = 120_000;

const loss = (name: string, percent: number, ms: number): Scenario => ({
  name,
  needsNetns: true,
  title: `${percent} % loss everywhere for ${ms / 60_000} min: nobody is called DOWN`,
  async run(fleet, say) {
    const watch = new Watch(fleet);
    await fleet.lab('loss', String(percent));
    try {
      if (percent >= 20) await alarmRaised(fleet, 'link-quality', 'fleet', ms);
      await lasts(Math.max(0, ms - (Date.now() - watch.at)));
    } finally {
      await fleet.lab('loss', '0');
    }
    watch.never('DOWN');
    await watch.noPowerWrites();
    const said = watch.verdicts().filter((e) => e.data['verdict'] !== 'UP');
    say(`${said.length} verdicts other than UP in ${ms / 60_000} min`);
    if (percent >= 20) await alarmCleared(fleet, 'link-quality', 'fleet', 180_000);
  },
});

export const D14at1 = loss('D14.1', 1, LOSS_MS);
export const D14at5 = loss('D14.5', 5, LOSS_MS);
export const D14at20 = loss('D14.20', 20, HEAVY_LOSS_MS);

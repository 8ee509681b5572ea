import type { Clock } from '#contracts/ports/clock.js';
import { pingArgs, type RunPing } from '#probe/ping-sign.js';
import { runCommand } from '../workload/systemctl.js';

/** The system's own; the agent has no privilege that would let it send one itself. */
export const systemPing =
  (clock: Clock): RunPing =>
  async (host, seconds, limit) => {
    const { code, stderr } = await runCommand(clock, 'env', ['LC_ALL=C', 'ping', ...pingArgs(host, seconds)], limit);
    if (code !== -1) return { code, said: stderr };
    // At its deadline it is ended, and has asked nobody.
    return { said: stderr.includes('did not end within') ? '' : stderr };
  };

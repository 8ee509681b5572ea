import { parseArgs } from 'node:util';
import { systemClock } from '#bus/system/system-clock.js';
import type { AgentStatus } from './control/agent-status.js';
import { askAgent, defaultSocket } from './control/client.js';
import { renderStatus } from './control/render-status.js';

/** `muster-agent status [--json] [--socket PATH]`: what the agent of this host knows and does. Rejects where none answers. */
export async function status(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' }, socket: { type: 'string' } } });
  const answer = (await askAgent(systemClock, { op: 'status' }, values.socket ?? defaultSocket())) as AgentStatus;
  process.stdout.write(values.json === true ? `${JSON.stringify(answer)}\n` : renderStatus(answer));
  return 0;
}

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import { Agent } from './agent.js';
import { defaultConfigFile, loadConfig, loadCredentials, loadKeys } from './config/agent-config.js';
import { agentLog, reasonOf } from './log/agent-log.js';
import { StartNumber } from './report/epoch.js';
import { askManager, leavingKind } from './report/leaving.js';

/** `muster-agent [run] [--config FILE]`: runs until SIGTERM; rejects where the configuration is wrong. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { config: { type: 'string' } } });
  const config = loadConfig(values.config ?? process.env.MUSTER_AGENT_CONFIG ?? defaultConfigFile());
  const keys = loadKeys(config.keys);
  const credentials = config.credentials === undefined ? undefined : loadCredentials(config.credentials);
  const bootId = readFileSync(config.bootIdFile, 'utf8').trim();
  if (bootId === '') throw new Error(`boot id file ${config.bootIdFile} is empty`);
  const [clock, random] = [systemClock, systemRandom];
  const log = agentLog({ node: config.node }, clock);
  const start = await StartNumber.take(config.stateDir, clock, log);
  const { epoch } = start;
  const startWarning = (): string | undefined => start.warning;
  const known = { config, keys, ...(credentials && { credentials }), epoch, startWarning, bootId };
  const agent = new Agent({ ...known, clock, random, log });

  let leaving = false;
  const stop = (): void => {
    if (leaving) return;
    leaving = true;
    start.stop();
    askManager(clock)
      .then((manager) => agent.stop(leavingKind(manager)))
      .then(
        () => process.exit(0),
        (e: unknown) => {
          log.error('the agent did not stop cleanly', { reason: reasonOf(e) });
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  await agent.start();
}

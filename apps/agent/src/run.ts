import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Agent } from './agent.js';
import { defaultConfigFile, loadConfig, loadCredentials, loadKeys } from './config.js';
import { agentLog, reasonOf } from './log.js';
import { StartNumber } from './report/epoch.js';
import { leavingKind } from './report/leaving.js';

/** `muster-agent [run] [--config FILE]`: runs until SIGTERM; rejects where the configuration is wrong. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { config: { type: 'string' } } });
  const config = loadConfig(values.config ?? process.env.MUSTER_AGENT_CONFIG ?? defaultConfigFile());
  const keys = loadKeys(config.keys);
  const credentials = config.credentials === undefined ? undefined : loadCredentials(config.credentials);
  const bootId = readFileSync(config.bootIdFile, 'utf8').trim();
  if (bootId === '') throw new Error(`boot id file ${config.bootIdFile} is empty`);
  const log = agentLog({ node: config.node });
  const start = await StartNumber.take(config.stateDir, Date.now(), log);
  const { epoch } = start;
  const startWarning = (): string | undefined => start.warning;
  const agent = new Agent({ config, keys, ...(credentials && { credentials }), epoch, startWarning, bootId, log });

  let leaving = false;
  const stop = (): void => {
    if (leaving) return;
    leaving = true;
    start.stop();
    agent.stop(leavingKind()).then(
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

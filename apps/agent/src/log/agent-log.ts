import type { Clock } from '#contracts/ports/clock.js';

/** One JSON object a line on stdout; a logging library would cost a tenth of the agent's memory. */
export interface AgentLog {
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}

export function agentLog(source: { node: string }, clock: Clock): AgentLog {
  const line = (level: string, message: string, facts: object = {}): void => {
    process.stdout.write(`${JSON.stringify({ level, time: clock.wallMs(), ...source, msg: message, ...facts })}\n`);
  };
  return {
    info: (message, facts) => line('info', message, facts),
    warn: (message, facts) => line('warn', message, facts),
    error: (message, facts) => line('error', message, facts),
  };
}

/** Why something failed, in one line. */
export const reasonOf = (e: unknown): string => (e instanceof Error ? e.message : String(e)).replaceAll('\n', ' ');

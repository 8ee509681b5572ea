/** One JSON object a line on stdout; a logging library would cost a tenth of the agent's memory. */
export interface AgentLog {
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}

const line = (level: string, source: object, message: string, facts: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ level, time: Date.now(), ...source, msg: message, ...facts })}\n`);
};

export const agentLog = (source: { node: string }): AgentLog => ({
  info: (message, facts) => line('info', source, message, facts),
  warn: (message, facts) => line('warn', source, message, facts),
  error: (message, facts) => line('error', source, message, facts),
});

/** Why something failed, in one line. */
export const reasonOf = (e: unknown): string => (e instanceof Error ? e.message : String(e)).replaceAll('\n', ' ');

import { connect } from 'node:net';
import type { Clock } from '#contracts/ports/clock.js';
import type { GateAnswer } from '#contracts/wire/peers.js';
import { musterRoot } from '../config/agent-config.js';
import type { SocketRequest } from './status-socket.js';

export const defaultSocket = (): string => process.env.MUSTER_AGENT_SOCKET ?? `${musterRoot()}/run/muster/agent.sock`;

/** ms; the agent itself gives the control plane 2 s. */
const ANSWER_LIMIT = 4_000;

/** One question to the local agent, one JSON line back. Rejects with a sentence that says what is wrong. */
export function askAgent(clock: Clock, request: SocketRequest, socketPath = defaultSocket()): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let text = '';
    const fail = (message: string, cause?: unknown): void => {
      timer.cancel();
      socket.destroy();
      reject(new Error(message, { cause }));
    };
    const timer = clock.after(ANSWER_LIMIT, () => fail(`the agent gave no answer within ${ANSWER_LIMIT / 1000} s`));
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on('error', (e) =>
      fail(`no agent answers at ${socketPath} (${(e as NodeJS.ErrnoException).code ?? e.message})`, e),
    );
    socket.on('end', () => fail('the agent hung up without an answer'));
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
      const end = text.indexOf('\n');
      if (end < 0) return;
      try {
        const answer = JSON.parse(text.slice(0, end)) as unknown;
        timer.cancel();
        socket.destroy();
        resolve(answer);
      } catch (e) {
        fail('the agent answered something that is not JSON', e);
      }
    });
  });
}

/** May this workload start here? Whatever goes wrong on the way is a no, and says why. */
export async function askGate(clock: Clock, workload: string, generation?: number): Promise<GateAnswer> {
  try {
    const answer = (await askAgent(clock, {
      op: 'gate',
      workload,
      ...(generation !== undefined && { generation }),
    })) as GateAnswer;
    if (typeof answer.allowed !== 'boolean') return { allowed: false, reason: 'the agent gave no clear answer' };
    return answer;
  } catch (e) {
    return { allowed: false, reason: (e as Error).message };
  }
}

/** A hint; without an agent there is nobody to take it. */
export async function notifyAgent(clock: Clock, request: SocketRequest): Promise<boolean> {
  return askAgent(clock, request).then(
    () => true,
    () => false,
  );
}

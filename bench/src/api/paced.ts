import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { MusterError } from '#contracts';

export interface Paced {
  p50: number;
  p99: number;
}

/**
 * An open loop: one POST every `everyMs`, whether those before it were answered or not, over so many connections at
 * most. As people, schedulers and scripts come: not all in the same instant. Latency is from when it was due.
 * @throws MusterError COMMAND_FAILED where one is refused: a refusal is quick, and would flatter the figures
 */
export async function paced(
  url: string,
  o: { connections: number; everyMs: number; count: number; body: (n: number) => string },
): Promise<Paced> {
  const agent = new Agent({ keepAlive: true, maxSockets: o.connections });
  const began = performance.now();
  // A failure among them waits for the last one: unheard until then, it would end this process.
  const answers: Promise<{ ms: number } | { error: Error }>[] = [];
  for (let n = 0; n < o.count; n += 1) {
    const due = began + n * o.everyMs;
    const wait = due - performance.now();
    if (wait > 0) await pause(wait);
    answers.push(
      post(url, agent, o.body(n)).then(
        () => ({ ms: performance.now() - due }),
        (error: Error) => ({ error }),
      ),
    );
  }
  try {
    const ms = (await Promise.all(answers))
      .map((answer) => {
        if ('error' in answer) throw answer.error;
        return answer.ms;
      })
      .sort((a, b) => a - b);
    const at = (share: number): number => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] as number;
    return { p50: at(0.5), p99: at(0.99) };
  } finally {
    agent.destroy();
  }
}

function post(url: string, agent: Agent, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const req = request(url, { method: 'POST', agent, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => {
        if (res.statusCode === 202) resolve();
        else reject(new MusterError('COMMAND_FAILED', `POST ${url}: ${res.statusCode} ${text.slice(0, 300)}`));
      });
    });
    req.on('error', (e: NodeJS.ErrnoException) => {
      // The server ends a connection that was idle for long, maybe in the moment in which it is used again.
      if (req.reusedSocket && e.code === 'ECONNRESET') resolve(post(url, agent, body));
      else reject(e);
    });
    req.end(body);
  });
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { execute } from '../execute.js';
import type { Io } from '../io/io.js';
import { refusedOf } from './contract.js';

const program = fileURLToPath(new URL('../../../../bin/muster.mjs', import.meta.url));

export interface Outcome {
  /** Undefined: a signal has ended it. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface Received {
  method: string;
  url: string;
  body: unknown;
  headers: IncomingMessage['headers'];
}

export interface Surroundings {
  env?: Record<string, string>;
  /** Somebody sits at a terminal of this width. */
  terminal?: number;
  stdin?: string;
  /** The name that the program is called by. */
  program?: string;
}

type Answer = (request: Received, res: ServerResponse) => void;

/** stdin, stdout and stderr that are read by a spec. */
export function fakeIo(args: string[], o: Surroundings = {}): { io: Io; outcome: Omit<Outcome, 'code'> } {
  const outcome = { stdout: '', stderr: '' };
  const tty = o.terminal === undefined ? {} : { isTTY: true, columns: o.terminal, rows: 24 };
  const io: Io = {
    stdin: Object.assign(Readable.from([o.stdin ?? '']), { isTTY: o.terminal !== undefined }),
    stdout: { write: (text) => (outcome.stdout += text), ...tty },
    stderr: { write: (text) => (outcome.stderr += text), ...tty },
    env: o.env ?? {},
    program: o.program ?? 'muster',
    args,
  };
  return { io, outcome };
}

/**
 * A tiny HTTP server in Muster's place, which takes the bodies that the contract takes and no others; in front of it
 * the program: within the spec, or built, as a process.
 */
export class MusterUnderTest {
  readonly received: Received[] = [];
  private readonly answers = new Map<string, Answer>();
  private readonly server = createServer((req, res) => void this.handle(req, res));
  private sendInterrupt: () => void = () => undefined;
  private onPrinted: (text: string) => void = () => undefined;
  url = '';

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** `GET /v1/nodes` → a value, or a function that writes the answer itself. The query does not count. */
  on(route: string, answer: unknown, status = 200): void {
    this.answers.set(
      route,
      typeof answer === 'function'
        ? (answer as Answer)
        : (_, res) => {
            const type = status >= 400 ? 'application/problem+json' : 'application/json';
            res.writeHead(status, { 'content-type': type }).end(JSON.stringify(answer));
          },
    );
  }

  last(method: string): Received | undefined {
    return this.received.filter((r) => r.method === method).at(-1);
  }

  /** Runs `muster …args` within the spec: in a pipe with nobody to ask, unless said otherwise. */
  async call(args: string[], o: Surroundings = {}): Promise<Outcome> {
    const { io, outcome } = fakeIo(args, { ...o, env: { MUSTER_URL: this.url, ...o.env } });
    const code = await execute(io);
    return { code, ...outcome };
  }

  /** Runs the built `muster …args` as a process, with its output in pipes and nobody to ask. */
  async run(args: string[], env: Record<string, string> = {}, file = program): Promise<Outcome> {
    const child = execa(process.execPath, [file, ...args], {
      env: { PATH: process.env['PATH'], MUSTER_URL: this.url, ...env },
      extendEnv: false,
      stdio: ['ignore', 'pipe', 'pipe'],
      stripFinalNewline: false,
      reject: false,
    });
    this.sendInterrupt = () => void child.kill('SIGINT');
    const decoder = new TextDecoder();
    let printed = '';
    child.stdout.on('data', (more: Buffer) => {
      printed += decoder.decode(more, { stream: true });
      this.onPrinted(printed);
    });
    const { exitCode, stdout, stderr } = await child;
    return { code: exitCode, stdout, stderr };
  }

  /** Resolves when the program that runs now has printed this. */
  printed(words: string): Promise<void> {
    return new Promise((resolve) => {
      this.onPrinted = (text) => text.includes(words) && resolve();
    });
  }

  /** Ctrl-C for the program that runs now. */
  interrupt(): void {
    this.sendInterrupt();
  }

  private async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = '';
    for await (const more of req.setEncoding('utf8')) text += more as string;
    const { method = '', url = '', headers } = req;
    const request = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    this.received.push(request);
    const route = `${method} ${url.split('?')[0]}`;
    const refused = refusedOf(route, request.body);
    if (refused.length > 0) {
      res.writeHead(400, { 'content-type': 'application/problem+json' });
      return void res.end(JSON.stringify({ code: 'BAD_REQUEST', detail: refused.join('; ') }));
    }
    const answer = this.answers.get(route);
    if (answer !== undefined) return answer(request, res);
    res.writeHead(404, { 'content-type': 'application/problem+json' });
    res.end(JSON.stringify({ code: 'NOT_FOUND', detail: `no route ${method} ${url}` }));
  }
}

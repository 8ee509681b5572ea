import { chmod, mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { reasonOf, type AgentLog } from '../log/agent-log.js';

export type SocketRequest =
  { op: 'status' } | { op: 'gate'; workload: string; generation?: number } | { op: 'workloads-changed' };

/** Longest line that is taken. */
const MOST = 4096;

/** The agent's ear on its own host: one JSON object a line, one answer a line. Nobody can change anything by it. */
export class StatusSocket {
  private server: Server | undefined;

  constructor(
    private readonly path: string,
    private readonly answer: (request: SocketRequest) => Promise<unknown>,
    private readonly log: AgentLog,
  ) {}

  /** Rejects when another agent answers there. */
  async open(): Promise<void> {
    if (Buffer.byteLength(this.path) > 107) throw new Error(`socket path ${this.path} is longer than 107 bytes`);
    await mkdir(dirname(this.path), { recursive: true });
    if (await answers(this.path)) throw new Error(`another agent answers at ${this.path}`);
    await rm(this.path, { force: true });
    const server = createServer((s) => this.serve(s));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.path, resolve);
    });
    this.server = server;
    // A unit's ExecStartPre runs as the unit's own user.
    await chmod(this.path, 0o666);
  }

  close(): void {
    this.server?.close();
  }

  private serve(socket: Socket): void {
    let text = '';
    socket.setTimeout(30_000, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        void this.reply(socket, line);
      }
      if (text.length > MOST) socket.destroy();
    });
  }

  private async reply(socket: Socket, line: string): Promise<void> {
    let answer: unknown;
    try {
      answer = await this.answer(JSON.parse(line) as SocketRequest);
    } catch (e) {
      this.log.warn('a local request failed', { reason: reasonOf(e) });
      answer = { error: reasonOf(e) };
    }
    if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`);
  }
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const end = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });

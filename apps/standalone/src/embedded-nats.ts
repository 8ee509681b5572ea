import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { atPort, MusterError } from '#contracts';

/** A server that has not answered by then will not, ms: a large store takes seconds to open. */
const START_LIMIT_MS = 30_000;
/** Between its end and its next start, ms: services bridge what is shorter than two seconds. */
const RESTART_DELAY_MS = 250;
/** One that ends again at once waits twice as long each time, up to this, ms. */
const LONGEST_RESTART_DELAY_MS = 8_000;
/** One that lived so long has come up: the next wait is short again, ms. */
const CAME_UP_MS = 5_000;
const STOP_LIMIT_MS = 5_000;
/** Before it is started anew, ms. */
const END_LIMIT_MS = 1_000;

const SETPRIV = '/usr/bin/setpriv';

/** In a session of its own, and not ended by the library with this process: the kernel does that, also after a SIGKILL. */
const startServer = (command: string, args: readonly string[]) =>
  execa(command, args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    buffer: false,
    reject: false,
    forceKillAfterDelay: STOP_LIMIT_MS,
  });

interface Server {
  child: ReturnType<typeof startServer>;
  /** How it ended; absent while it runs. */
  end?: string;
}

/** A nats-server of our own: started, kept alive, and gone with us. */
export class EmbeddedNats {
  private server: Server | undefined;
  private stopping = false;
  /** Until it has answered for the first time, its end is the business of {@link start}. */
  private starting = true;
  private restartDelayMs = RESTART_DELAY_MS;
  private said = '';

  constructor(
    private readonly configFile: string,
    private readonly address: { host: string; port: number },
    private readonly log: (sentence: string) => void,
    private readonly program = 'nats-server',
  ) {}

  /** Resolves when it answers. @throws MusterError CONFIG_INVALID with the server's own reason */
  async start(): Promise<void> {
    await this.mayListen();
    this.spawn();
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    while (!(await answers(this.address))) {
      const end = this.server?.end;
      if (end !== undefined) throw this.failed(`it ended (${end})`);
      if (limit.aborted) throw this.failed(`it did not answer within ${START_LIMIT_MS / 1000} s`);
      await pause(25);
    }
    this.starting = false;
    const end = this.server?.end;
    if (end !== undefined) this.ended(end);
  }

  /** Ends it, so that it is started again: at once, whatever state it is in. `why` is told. */
  restart(why: string): void {
    const child = this.server?.child;
    if (this.stopping || this.starting || child === undefined || this.server?.end !== undefined) return;
    this.log(`nats-server is restarted: ${why}`);
    // One whose store stands still never ends by itself. What it had acknowledged, the kernel has.
    const limit = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
    void child.then(() => clearTimeout(limit));
    child.kill('SIGTERM');
  }

  async stop(): Promise<void> {
    this.stopping = true;
    const child = this.server?.child;
    child?.kill('SIGTERM');
    await child;
  }

  /** The server's own refusal names no way out, and one that holds the port could be taken for ours. */
  private async mayListen(): Promise<void> {
    const probe = createServer().listen(this.address.port, this.address.host);
    try {
      await once(probe, 'listening');
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why =
        code === 'EADDRINUSE'
          ? 'the port is in use; choose another with --nats-listen'
          : code === 'EADDRNOTAVAIL'
            ? 'this machine does not have that address'
            : message;
      throw new MusterError('CONFIG_INVALID', `${this.text}: ${why}`, {}, { cause });
    }
    probe.close();
    await once(probe, 'close');
  }

  private get text(): string {
    return `nats-server on ${atPort(this.address.host, this.address.port)}`;
  }

  private failed(what: string): MusterError {
    const reason = /\[FTL\] (.*)/.exec(this.said)?.[1] ?? this.said.trim().split('\n').at(-1) ?? '';
    return new MusterError('CONFIG_INVALID', `${this.text}: ${what}${reason === '' ? '' : `: ${reason}`}`);
  }

  private spawn(): void {
    const own = [this.program, '-c', this.configFile];
    // Its own session: a Ctrl-C is for us, and we end it last. Should we be killed, the kernel tells it.
    const [command = '', ...args] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM', ...own] : own;
    const child = startServer(command, args);
    const server: Server = { child };
    this.server = server;
    this.said = '';
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      this.said = (this.said + more).slice(-4_000);
    });
    const born = performance.now();
    void child.then((result) => {
      server.end = endOf(result);
      if (performance.now() - born >= CAME_UP_MS) this.restartDelayMs = RESTART_DELAY_MS;
      if (server === this.server) this.ended(server.end);
    });
  }

  private ended(why: string): void {
    if (this.stopping || this.starting) return;
    const reason = /\[FTL\] (.*)/.exec(this.said)?.[1];
    this.log(`nats-server ended (${why}${reason === undefined ? '' : `: ${reason}`}); it is started again`);
    const delay = this.restartDelayMs;
    this.restartDelayMs = Math.min(2 * delay, LONGEST_RESTART_DELAY_MS);
    void this.spawnAfter(delay);
  }

  private async spawnAfter(delay: number): Promise<void> {
    await pause(delay, undefined, { ref: false });
    if (!this.stopping) this.spawn();
  }
}

/** How a process ended, or why it could not be started. */
const endOf = ({ signal, exitCode, originalMessage }: Awaited<Server['child']>): string =>
  signal ?? (exitCode === undefined ? (originalMessage ?? 'not started') : `exit ${exitCode}`);

/** A NATS server greets whoever connects. */
async function answers(address: { host: string; port: number }): Promise<boolean> {
  const socket = connect(address);
  try {
    return await new Promise<boolean>((resolve) => {
      socket.on('data', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('close', () => resolve(false));
      socket.setTimeout(1_000, () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MusterError } from '#contracts';

/** A server that has not answered by then will not, ms: a large store takes seconds to open. */
const START_LIMIT_MS = 30_000;
/** Between its end and its next start, ms: services bridge what is shorter than two seconds. */
const RESTART_DELAY_MS = 250;
const STOP_LIMIT_MS = 5_000;

const SETPRIV = '/usr/bin/setpriv';

/** `2.9.10`. @throws MusterError CONFIG_INVALID when there is no nats-server */
export function natsServerVersion(): string {
  const { stdout, error } = spawnSync('nats-server', ['--version'], { encoding: 'utf8' });
  const version = /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
  if (error !== undefined || version === undefined)
    throw new MusterError('CONFIG_INVALID', 'nats-server is not installed: run "npm run setup"', {}, { cause: error });
  return version;
}

/** A nats-server of our own: started, kept alive, and gone with us. */
export class EmbeddedNats {
  private child: ChildProcess | undefined;
  private stopping = false;
  private said = '';

  constructor(
    private readonly configFile: string,
    private readonly address: { host: string; port: number },
    private readonly log: (sentence: string) => void,
  ) {}

  /** Resolves when it answers. @throws MusterError CONFIG_INVALID with the server's own reason */
  async start(): Promise<void> {
    await this.mayListen();
    this.spawn();
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    while (!(await answers(this.address))) {
      if (this.child?.exitCode !== null) throw this.failed('it ended');
      if (limit.aborted) throw this.failed(`it did not answer within ${START_LIMIT_MS / 1000} s`);
      await pause(25);
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await gone;
    clearTimeout(kill);
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
    return `nats-server on ${this.address.host}:${this.address.port}`;
  }

  private failed(what: string): MusterError {
    const reason = /\[FTL\] (.*)/.exec(this.said)?.[1] ?? this.said.trim().split('\n').at(-1) ?? '';
    return new MusterError('CONFIG_INVALID', `${this.text}: ${what}${reason === '' ? '' : `: ${reason}`}`);
  }

  private spawn(): void {
    const server = ['nats-server', '-c', this.configFile];
    // Its own session: a Ctrl-C is for us, and we end it last. Should we be killed, the kernel tells it.
    const [command = '', ...args] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM', ...server] : server;
    const child = spawn(command, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    this.said = '';
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      this.said = (this.said + more).slice(-4_000);
    });
    child.on('error', (error) => {
      this.said = error.message;
    });
    const born = performance.now();
    child.on('exit', (code, signal) => {
      if (this.stopping || child !== this.child) return;
      // One that never came up is the business of start().
      if (performance.now() - born < RESTART_DELAY_MS) return;
      this.log(`nats-server ended (${signal ?? `exit ${code}`}); it is started again`);
      void this.restart();
    });
  }

  private async restart(): Promise<void> {
    await pause(RESTART_DELAY_MS, undefined, { ref: false });
    if (!this.stopping) this.spawn();
  }
}

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

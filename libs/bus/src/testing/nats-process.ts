import { once } from 'node:events';
import { request, type RequestOptions } from 'node:http';
import { dirname } from 'node:path';
import { daemon, type Daemon } from './daemon.js';

/** A nats-server with a given configuration, started and signalled. */
export interface NatsProcess {
  start(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Resolves when it has ended. */
  kill(): Promise<void>;
  /** Ends it, and leaves nothing of it. */
  remove(): Promise<void>;
}

/** The one that is installed. */
export class SystemNats implements NatsProcess {
  private child: Daemon | undefined;

  constructor(
    private readonly conf: string,
    private readonly program = 'nats-server',
  ) {}

  async start(): Promise<void> {
    const child = daemon(this.program, ['-c', this.conf], { stdio: 'ignore' });
    this.child = child;
    await once(child, 'spawn');
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    this.child?.kill(name);
    await Promise.resolve();
  }

  async kill(): Promise<void> {
    const running = this.child;
    this.child = undefined;
    running?.kill('SIGKILL');
    await running;
  }

  remove(): Promise<void> {
    return this.kill();
  }
}

/** One in a container, with its port and the folder of its configuration at the same place outside. */
export class ContainerNats implements NatsProcess {
  private id: string | undefined;

  constructor(
    private readonly conf: string,
    private readonly port: number,
    private readonly image: string,
  ) {}

  async start(): Promise<void> {
    if (this.id !== undefined) {
      await this.engine('POST', `/containers/${this.id}/start`);
      return;
    }
    // Testcontainers' own cleaner is one more image to pull; `remove` does its work.
    process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
    // Loaded only here: it is as large as all of Muster, and each spec file would load it anew.
    const { NatsContainer } = await import('@testcontainers/nats');
    const folder = dirname(this.conf);
    const container = await new NatsContainer(this.image)
      .withArg('config', this.conf)
      .withBindMounts([{ source: folder, target: folder }])
      .withUser(`${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`)
      .withExposedPorts({ container: this.port, host: this.port })
      .withAutoRemove(false)
      .start();
    this.id = container.getId();
  }

  async signal(name: string): Promise<void> {
    await this.engine('POST', `/containers/${this.id}/kill?signal=${name}`);
  }

  async kill(): Promise<void> {
    if (this.id === undefined) return;
    // 409: it has ended already.
    await this.engine('POST', `/containers/${this.id}/kill?signal=SIGKILL`, [409]);
    await this.engine('POST', `/containers/${this.id}/wait`);
  }

  async remove(): Promise<void> {
    if (this.id === undefined) return;
    await this.engine('DELETE', `/containers/${this.id}?force=true&v=true`, [404]);
    this.id = undefined;
  }

  private async engine(method: string, path: string, alsoFine: number[] = []): Promise<void> {
    const host = new URL(process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock');
    const where: RequestOptions =
      host.protocol === 'unix:' ? { socketPath: host.pathname } : { host: host.hostname, port: host.port };
    const asking = request({ ...where, method, path });
    asking.end();
    const [answer] = (await once(asking, 'response')) as [import('node:http').IncomingMessage];
    let text = '';
    for await (const piece of answer) text += String(piece);
    const status = answer.statusCode ?? 0;
    if (status >= 400 && !alsoFine.includes(status)) throw new Error(`Docker: ${method} ${path}: ${status} ${text}`);
  }
}

import { once } from 'node:events';
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { SparseLog } from '#bus';
import { MusterError } from '#contracts';
import type { CertificatePair } from './certificate-pair.js';
import { ConnectionLimit, ConnectionNumbers } from './connection-limit.js';
import { type ListenAddress, listenText } from './listen-address.js';

/** How long an answer in flight may take to end when the gateway closes; streams are cut then, and clients resume. */
const CLOSE_GRACE_MS = 500;

/** The gateway's open addresses. Every request is handed on with whether it came by a unix socket. */
export class Listeners {
  private readonly servers: (Server | TlsServer)[] = [];
  private readonly lines = new SparseLog({ burst: 3, every: 10_000 });
  private readonly limit: ConnectionLimit;

  constructor(
    private readonly handle: (req: IncomingMessage, res: ServerResponse, unix: boolean) => void,
    private readonly o: {
      log: Pick<Logger, 'warn'>;
      /** Monotonic, ms. */
      now: () => number;
      limit?: ConnectionLimit;
      /** With it, every address but unix sockets speaks TLS and nothing else. */
      tls?: CertificatePair;
    },
  ) {
    this.limit = o.limit ?? new ConnectionLimit();
  }

  /** What every connection from now on is shown; those that are open go on. */
  show(pair: CertificatePair): void {
    this.o.tls = pair;
    for (const server of this.servers) if ('setSecureContext' in server) server.setSecureContext(contextOf(pair));
  }

  /** @returns the port that was given where `port` was 0. @throws MusterError CONFIG_INVALID: taken, or not ours. */
  async open(address: ListenAddress): Promise<ListenAddress> {
    const unix = address.kind === 'unix';
    const server = this.server(unix);
    // Who may open the unix socket is the operator, and must get in whoever has taken the rest.
    if (!unix) server.on('connection', (socket) => this.admit(socket));
    if (unix) await removeDeadSocket(address.path);
    // Before it listens: another certificate may come meanwhile.
    this.servers.push(server);
    server.listen(unix ? { path: address.path } : { host: address.host, port: address.port });
    try {
      await once(server, 'listening');
    } catch (cause) {
      this.servers.splice(this.servers.indexOf(server), 1);
      throw new MusterError(
        'CONFIG_INVALID',
        `cannot listen on ${listenText(address)}: ${explain(cause)}`,
        {},
        { cause },
      );
    }
    if (unix) {
      // The file's mode is the lock: who may write it is the operator.
      chmodSync(address.path, 0o600);
      return address;
    }
    const bound = server.address();
    return typeof bound === 'object' && bound !== null ? { ...address, port: bound.port } : address;
  }

  private server(unix: boolean): Server | TlsServer {
    const { headMs, requestMs } = ConnectionNumbers;
    const limits = { headersTimeout: headMs, requestTimeout: requestMs };
    const onRequest = (req: IncomingMessage, res: ServerResponse): void => this.handle(req, res, unix);
    const { tls } = this.o;
    if (unix || tls === undefined) return createServer(limits, onRequest);
    return createTlsServer({ ...limits, handshakeTimeout: headMs, ...contextOf(tls) }, onRequest);
  }

  private admit(socket: Socket): void {
    const source = this.limit.admit(socket);
    if (source === undefined) return;
    socket.destroy();
    const leftOut = this.lines.next('all', this.o.now());
    if (leftOut !== undefined) this.o.log.warn({ source, leftOut }, 'a connection was closed: there are too many');
  }

  async close(): Promise<void> {
    await Promise.all(
      this.servers.map(async (server) => {
        const closed = once(server, 'close');
        server.close();
        server.closeIdleConnections();
        const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
        await closed;
        clearTimeout(cut);
      }),
    );
    this.servers.length = 0;
  }
}

const contextOf = ({ certificate, key }: CertificatePair) => ({ cert: certificate, key });

function explain(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return 'it is already in use; stop the other process, or choose another with --listen (npm start) or http.listen (muster.yaml)';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address';
  return (cause as Error).message;
}

/** A socket file that nobody answers on is left from a killed process; one that answers is somebody's. */
async function removeDeadSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isSocket()) return;
  const probe = connect(path);
  try {
    await once(probe, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') rmSync(path, { force: true });
  } finally {
    probe.destroy();
  }
}

import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Clock, Timer } from '#contracts/ports/clock.js';
import { isOfTheTarget } from '#contracts/wire/send-errors.js';
import { reasonOf, type AgentLog } from '../log/agent-log.js';
import { SendFailures } from './send-failures.js';

/** The default holds 256 small datagrams; a burst of 2,000 lost 43 % of its echoes with it, none with this. */
export const BUFFER_BYTES = 4 * 1024 * 1024;

/** After an address that is not there (yet) we try again. */
const REBIND_MS = 1000;

export interface UdpHandlers {
  onDatagram: (bytes: Buffer, from: RemoteInfo) => void;
  /** The socket is bound (again). */
  onUp: () => void;
}

/** Addresses are literals: no resolver is asked, so none can block. Called with every send, so no pattern is matched. */
const literal: NonNullable<SocketOptions['lookup']> = (address, _options, done) =>
  done(null, address, address.includes(':') ? 6 : 4);

/** One network's socket, bound to the node's own address there, so that nothing leaves over another network. */
export class UdpSocket {
  private socket: Socket | undefined;
  private timer: Timer | undefined;
  private closed = false;
  private bound = false;
  readonly failures = new SendFailures();
  /** Datagrams that left since the start. */
  sent = 0;
  /** Why the last send or bind failed. */
  lastError: string | undefined;
  /** Bytes of receive buffer that the system gave; it counts its own bookkeeping in. */
  bufferBytes = 0;

  constructor(
    readonly network: string,
    private readonly address: string,
    private readonly port: number,
    private readonly handlers: UdpHandlers,
    private readonly clock: Clock,
    private readonly log: AgentLog,
  ) {}

  get up(): boolean {
    return this.bound;
  }

  /** Resolves once bound, or once it is clear that the address is not there yet. Rejects when the port is taken. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.bind((e) => {
        if (e?.code === 'EADDRINUSE')
          reject(
            new Error(`UDP ${this.address}:${this.port} (${this.network}) is in use by another process`, { cause: e }),
          );
        else resolve();
      });
    });
  }

  close(): void {
    this.closed = true;
    this.bound = false;
    this.timer?.cancel();
    this.socket?.close();
    this.socket = undefined;
  }

  /** `failed` is called, with why, when the datagram did not leave this host by our own fault. */
  send(bytes: Buffer, address: string, port: number, failed: (why: string) => void): void {
    if (!this.socket || !this.bound) {
      this.failures.failed(this.clock.monotonicMs());
      failed(this.lastError ?? 'its socket is not bound');
      return;
    }
    this.socket.send(bytes, port, address, (e) => {
      if (!e || isOfTheTarget(e)) {
        this.failures.left();
        this.sent++;
        return;
      }
      this.failures.failed(this.clock.monotonicMs());
      this.lastError = reasonOf(e);
      failed((e as NodeJS.ErrnoException).code ?? this.lastError);
    });
  }

  private bind(first?: (e?: NodeJS.ErrnoException) => void): void {
    const socket = createSocket({ type: isIPv6(this.address) ? 'udp6' : 'udp4', lookup: literal });
    let answer = first;
    socket.on('message', (bytes, from) => this.handlers.onDatagram(bytes, from));
    socket.on('error', (e: NodeJS.ErrnoException) => {
      this.lastError = reasonOf(e);
      if (this.socket === socket) this.socket = undefined;
      this.bound = false;
      socket.close();
      if (e.code !== 'EADDRINUSE' || !answer) this.rebindLater();
      if (answer)
        this.log.warn('cannot bind yet', { network: this.network, address: this.address, reason: this.lastError });
      answer?.(e);
      answer = undefined;
    });
    socket.bind({ address: this.address, port: this.port, exclusive: true }, () => {
      if (this.closed) {
        socket.close();
        return;
      }
      this.socket = socket;
      this.bound = true;
      this.growBuffers(socket);
      this.handlers.onUp();
      answer?.();
      answer = undefined;
    });
  }

  private rebindLater(): void {
    if (this.closed) return;
    this.timer = this.clock.after(REBIND_MS, () => this.bind());
  }

  private growBuffers(socket: Socket): void {
    try {
      socket.setRecvBufferSize(BUFFER_BYTES);
      socket.setSendBufferSize(BUFFER_BYTES);
    } catch (e) {
      this.log.warn('the socket buffers cannot be set', { network: this.network, reason: reasonOf(e) });
    }
    this.bufferBytes = socket.getRecvBufferSize();
    if (this.bufferBytes < BUFFER_BYTES)
      this.log.warn('the receive buffer is smaller than wanted: raise net.core.rmem_max', {
        network: this.network,
        bytes: this.bufferBytes,
        wanted: BUFFER_BYTES,
      });
  }
}

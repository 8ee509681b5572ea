import type { MessageLog } from '#bus/ports/message-log.js';
import type { Wire } from '#bus/ports/wire.js';

/** One connection to the server, and what can be done to it. */
export interface ContractClient {
  wire: Wire;
  messages: MessageLog;
  /** What the server answers to the next call is lost; what is asked is carried out. */
  loseAnswer(): void;
  /** The connection breaks, and there is no other one until {@link heal}. */
  cut(): void;
  /** The network is whole again. Resolves when there is a connection over it. */
  heal(): Promise<void>;
}

/** A nats-server and the time that it lives in: the played one and real ones have to do the same in it. */
export interface ContractWorld {
  /** E.g. `2.9.10`. */
  version: string;
  /** Its time passes only where somebody asks for it. */
  played: boolean;
  client(name: string): Promise<ContractClient>;
  /** Lets time pass until it is settled. */
  run<T>(work: Promise<T>): Promise<T>;
  /** Lets time pass until it holds, 30 s at most. */
  until(holds: () => boolean): Promise<void>;
  advance(ms: number): Promise<void>;
  /** kill -9, and its start with all that it had stored. */
  restart(): Promise<void>;
  /**
   * kill -9, and its start with some streams as they were when {@link remember} was called: what came later was not on
   * the disk.
   */
  rollBack(streams: readonly string[]): Promise<void>;
  remember(): Promise<void>;
  /** Somebody deletes a stream, and makes it anew in the same shape. */
  recreate(stream: string): Promise<void>;
  close(): Promise<void>;
  /** For how long at a stretch nothing moved since: neither this process nor the server. */
  watchStandstill(): Standstill;
}

export interface Standstill {
  longestMs(): number;
  end(): void;
}

import { Injectable } from '@nestjs/common';
import { MusterError, type RpcAnswer, type RpcRequest, type RpcVerb } from '#contracts';
import { ServiceContext } from '#service';
import { StoreHealth } from '../store/store-health.js';

/** A read that is not answered by then is not worth waiting for, ms; on a cluster an election may come between. */
const READ_LIMIT_MS = { single: 2_000, cluster: 13_000 };
/** A write may touch thousands of records; it is not repeated by us, so it gets the time that it needs, ms. */
const WRITE_LIMIT_MS = { single: 10_000, cluster: 15_000 };

/** The gateway's one way to the other services. */
@Injectable()
export class RpcClient {
  /** Reads that wait for the end of this turn of the event loop. */
  private turn: Promise<void> | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: StoreHealth,
  ) {}

  /**
   * Those that come in one turn go out in one write: a write of its own for each costs us and the server more than all
   * else that is done for it.
   * @throws MusterError of the other side; BUS_UNAVAILABLE at once while there is no NATS.
   */
  async read<V extends RpcVerb>(verb: V, request: RpcRequest<V>, limitMs = READ_LIMIT_MS): Promise<RpcAnswer<V>> {
    await this.turnEnds();
    return this.call(verb, request, limitMs);
  }

  /** As {@link read}, for who has waited for the end of the turn. */
  readNow<V extends RpcVerb>(verb: V, request: RpcRequest<V>): Promise<RpcAnswer<V>> {
    return this.call(verb, request, READ_LIMIT_MS);
  }

  /** Of this turn of the event loop. */
  turnEnds(): Promise<void> {
    return (this.turn ??= this.endOfTurn());
  }

  /** BUS_UNAVAILABLE at once, and nothing was done, while the only store cannot keep it. */
  async write<V extends RpcVerb>(verb: V, request: RpcRequest<V>): Promise<RpcAnswer<V>> {
    const { refusal } = this.store;
    if (refusal !== undefined) throw new MusterError('BUS_UNAVAILABLE', refusal.summary);
    return this.call(verb, request, WRITE_LIMIT_MS);
  }

  private endOfTurn(): Promise<void> {
    return new Promise((resolve) =>
      this.context.clock.soon(() => {
        this.turn = undefined;
        resolve();
      }),
    );
  }

  private async call<V extends RpcVerb>(
    verb: V,
    request: RpcRequest<V>,
    limitMs: { single: number; cluster: number },
  ): Promise<RpcAnswer<V>> {
    const { bus } = this.context;
    if (!bus.connected) throw new MusterError('BUS_UNAVAILABLE', 'no connection to NATS; it is being made anew');
    return bus.call(verb, request, {
      timeoutMs: bus.serverInfo?.cluster === undefined ? limitMs.single : limitMs.cluster,
    });
  }
}

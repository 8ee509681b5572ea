import { Injectable } from '@nestjs/common';
import { MusterError, type RpcAnswer, type RpcRequest, type RpcVerb } from '#contracts';
import { ServiceContext } from '#service';

/** A read that is not answered by then is not worth waiting for. */
const READ_LIMIT_MS = 2_000;
/** A write may touch thousands of records; it is not repeated by us, so it gets the time that it needs. */
const WRITE_LIMIT_MS = 10_000;

/** The gateway's one way to the other services. */
@Injectable()
export class RpcClient {
  constructor(private readonly context: ServiceContext) {}

  /** @throws MusterError of the other side; BUS_UNAVAILABLE at once while there is no NATS. */
  read<V extends RpcVerb>(verb: V, request: RpcRequest<V>): Promise<RpcAnswer<V>> {
    return this.call(verb, request, READ_LIMIT_MS);
  }

  write<V extends RpcVerb>(verb: V, request: RpcRequest<V>): Promise<RpcAnswer<V>> {
    return this.call(verb, request, WRITE_LIMIT_MS);
  }

  private async call<V extends RpcVerb>(verb: V, request: RpcRequest<V>, timeoutMs: number): Promise<RpcAnswer<V>> {
    const { bus } = this.context;
    if (!bus.connected) throw new MusterError('BUS_UNAVAILABLE', 'no connection to NATS; it is being made anew');
    return bus.call(verb, request, { timeoutMs });
  }
}

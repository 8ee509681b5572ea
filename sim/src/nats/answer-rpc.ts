import { rpcSubject, type Bus, type Closable } from '#bus';
import { MusterError, type RpcAnswer, type RpcRequest, type RpcVerb } from '#contracts';

/** Handlers of RPCs, by their verbs. */
export type RpcHandlers = { [V in RpcVerb]?: (q: RpcRequest<V>) => RpcAnswer<V> | Promise<RpcAnswer<V>> };

/** Answers one verb as Nest's transport does: in its envelope, `queue`: one of all that name it. */
export function answerRpc<V extends RpcVerb>(
  bus: Bus,
  verb: V,
  fn: (q: RpcRequest<V>) => RpcAnswer<V> | Promise<RpcAnswer<V>>,
  o: { queue?: string } = {},
): Closable {
  return bus.answer<{ data: RpcRequest<V>; id: string }, unknown>(
    rpcSubject(verb),
    async ({ data, id }) => {
      try {
        return { id, isDisposed: true, response: await fn(data) };
      } catch (e) {
        return { id, isDisposed: true, err: MusterError.from(e).toJSON() };
      }
    },
    o,
  );
}

/** As {@link answerRpc}, all of them: of the processes of one service one answers. */
export function answerRpcs(bus: Bus, service: string, handlers: RpcHandlers): Closable {
  const answers = Object.entries(handlers).map(([verb, fn]) =>
    answerRpc(bus, verb as RpcVerb, fn as (q: RpcRequest<RpcVerb>) => RpcAnswer<RpcVerb>, { queue: service }),
  );
  return { close: async () => void (await Promise.all(answers.map((a) => a.close()))) };
}

import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { MessagePattern, RpcException } from '@nestjs/microservices';
import type { Logger } from 'pino';
import { throwError, type Observable } from 'rxjs';
import { rpcSubject } from '#bus';
import { MusterError, type RpcVerb, type WireError } from '#contracts';

/** Marks the handler of an RPC; its argument is `RpcRequest<V>`, what it returns `RpcAnswer<V>`. */
export const Rpc = (verb: RpcVerb): MethodDecorator => MessagePattern(rpcSubject(verb));

/** Whatever a handler throws goes out as WireError: Nest alone would say "Internal server error" for a plain Error. */
@Catch()
export class RpcErrors implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(e: unknown, host: ArgumentsHost): Observable<never> {
    const error = this.toMusterError(e);
    if (error.code === 'INTERNAL') {
      const subject = host.switchToRpc().getContext<{ getSubject?(): string }>().getSubject?.();
      this.log.error({ err: e, subject }, 'a request failed');
    }
    return throwError((): WireError => error.toJSON());
  }

  private toMusterError(e: unknown): MusterError {
    if (e instanceof RpcException) return MusterError.from(e.getError());
    if (e instanceof HttpException && e.getStatus() === 400)
      return new MusterError('BAD_REQUEST', e.message, {}, { cause: e });
    return MusterError.from(e);
  }
}

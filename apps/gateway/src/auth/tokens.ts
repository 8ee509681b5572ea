import type { ServerResponse } from 'node:http';
import { MusterError } from '#contracts';
import type { TokenBook } from './token-book.js';
import type { Identity, TokenFile } from './token-file.js';

/**
 * The tokens that open the API: of the file `http.tokens`, and made over the API. Whether one is asked for is said by
 * the configuration alone, never by what tokens there are: the end of the last one must open nothing, and the first one
 * must lock nobody out. Without the file nobody is asked: whoever reaches the (loopback) address is the operator.
 */
export class Tokens {
  constructor(
    private readonly file: TokenFile | undefined,
    private readonly made?: TokenBook,
    /** A unix socket is served: who may open it needs no token. */
    private readonly unixSocket = false,
  ) {}

  get asked(): boolean {
    return this.file !== undefined;
  }

  /** Tokens of the file are good without NATS. @throws MusterError UNAUTHORIZED, BUS_UNAVAILABLE */
  identify(token: string, answer: ServerResponse): Identity {
    const known = this.file?.identify(token);
    if (known !== undefined) return known;
    if (this.made === undefined) throw new MusterError('UNAUTHORIZED', 'this token is not known');
    return this.made.identify(token, answer);
  }

  /** Names in records and in the audit must say who it was. */
  isTaken(name: string): boolean {
    return this.file?.names.includes(name) ?? false;
  }

  /** Somebody can set tokens even when all that were made over the API are gone. */
  get hasOtherAdmin(): boolean {
    return !this.asked || this.unixSocket || (this.file?.hasAdmin ?? false);
  }
}

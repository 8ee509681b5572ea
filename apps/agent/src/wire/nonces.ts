import { randomBytes } from 'node:crypto';

const NONCE_BYTES = 16;
/** Nonces of one call to the system's generator: a call for each would cost as much as the rest of making a probe. */
const AT_ONCE = 256;

/** 16 random bytes each time, never the same again. */
export class Nonces {
  private pool = Buffer.alloc(0);
  private at = 0;

  next(): Buffer {
    if (this.at === this.pool.length) {
      // A new one: what was given away before stays as it is.
      this.pool = randomBytes(NONCE_BYTES * AT_ONCE);
      this.at = 0;
    }
    return this.pool.subarray(this.at, (this.at += NONCE_BYTES));
  }
}

/**
 * Chance: jitter, ids, nonces. A simulation draws it from a seed, so nothing that must be secret (a key, a token, the
 * vector of a cipher) may come from here: that is `node:crypto`'s own.
 */
export interface Random {
  /** ≥ 0 and < 1. */
  number(): number;
  bytes(size: number): Uint8Array;
  /** `size` bytes as hexadecimal digits. */
  hex(size: number): string;
  /** Version 4. */
  uuid(): string;
}

/** An API token, as everybody may see it. */
export interface TokenRecord {
  name: string;
  role: 'viewer' | 'operator' | 'admin';
  by: string;
  createdAt: number;
  expiresAt?: number;
}

/** Value of bucket `tokens`, key = name. Who reads the bucket cannot use what stands there: a token is not its hash. */
export interface StoredToken extends TokenRecord {
  /** Of the token, hex. */
  sha256: string;
}

/** How the API names a token. */
export const tokenId = (sha256: string): string => sha256.slice(0, 16);

/** By the time of day: a person said how long it shall last. */
export const hasEnded = (token: TokenRecord, now: number): boolean =>
  token.expiresAt !== undefined && token.expiresAt <= now;

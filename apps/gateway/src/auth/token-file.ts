import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MusterError, NAME_PATTERN } from '#contracts';
import { type Role, Roles } from './roles.js';

/** Who a request comes from, as audit and records name it. */
export interface Identity {
  name: string;
  role: Role;
}

/** One entry of the tokens file. Only the hash of a token is kept: the file does not let its reader in. */
interface TokenEntry extends Identity {
  /** SHA-256 of the token, hex. */
  sha256: string;
}

/** Tokens by their hash. An empty list: only those that are made over the API. */
export class TokenFile {
  private readonly entries: { digest: Buffer; identity: Identity }[];

  /** @throws MusterError CONFIG_INVALID */
  constructor(text: string, from = 'http.tokens') {
    this.entries = parse(text, from).map((e) => ({
      digest: Buffer.from(e.sha256, 'hex'),
      identity: { name: e.name, role: e.role },
    }));
  }

  static read(path: string): TokenFile {
    try {
      return new TokenFile(readFileSync(path, 'utf8'), path);
    } catch (cause) {
      if (cause instanceof MusterError) throw cause;
      throw new MusterError(
        'CONFIG_INVALID',
        `http.tokens: cannot read ${path}: ${(cause as Error).message}`,
        {},
        { cause },
      );
    }
  }

  get names(): string[] {
    return this.entries.map((e) => e.identity.name);
  }

  get hasAdmin(): boolean {
    return this.entries.some((e) => e.identity.role === 'admin');
  }

  identify(token: string): Identity | undefined {
    const digest = createHash('sha256').update(token).digest();
    return this.entries.find((e) => timingSafeEqual(e.digest, digest))?.identity;
  }
}

function parse(text: string, from: string): TokenEntry[] {
  const wrong = (why: string): MusterError => new MusterError('CONFIG_INVALID', `${from}: ${why}`);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', `${from}: not JSON`, {}, { cause });
  }
  if (!Array.isArray(list)) throw wrong('expected a list of {name, role, sha256}');
  return list.map((x: Partial<TokenEntry> | null, i) => {
    if (typeof x?.name !== 'string' || !NAME_PATTERN.test(x.name))
      throw wrong(`entry ${i + 1}: name is missing or odd`);
    if (x.role === undefined || !Roles.includes(x.role))
      throw wrong(`entry ${i + 1} (${x.name}): role is one of ${Roles.join(', ')}`);
    if (typeof x.sha256 !== 'string' || !/^[0-9a-fA-F]{64}$/.test(x.sha256))
      throw wrong(`entry ${i + 1} (${x.name}): sha256 has 64 hex digits`);
    return { name: x.name, role: x.role, sha256: x.sha256 };
  });
}

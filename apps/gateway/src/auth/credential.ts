/** What a request shows of who sends it. */
export type Credential =
  | { kind: 'none' }
  /** Something is shown that holds no token: it is refused like a wrong one, and never taken for nothing. */
  | { kind: 'unreadable' }
  | { kind: 'token'; token: string };

/**
 * `Authorization: Bearer TOKEN`, and where `basic` is taken, HTTP Basic (RFC 7617) with the token as password. The user
 * name stands for nobody, and is not logged: who types the two in the wrong order has sent the token as the name.
 */
export function credentialOf(authorization: string | undefined, { basic }: { basic: boolean }): Credential {
  if (authorization === undefined) return { kind: 'none' };
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? (basic ? passwordOf(authorization) : undefined);
  return token === undefined ? { kind: 'unreadable' } : { kind: 'token', token };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function passwordOf(authorization: string): string | undefined {
  const coded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1] ?? '';
  const bytes = Buffer.from(coded, 'base64');
  // Node decodes whatever it gets: what it would not have written so is none.
  if (bytes.toString('base64') !== coded) return undefined;
  try {
    return /^[^:\p{Cc}]*:([^\s\p{Cc}]+)$/u.exec(utf8.decode(bytes))?.[1];
  } catch {
    // No text at all. What was sent may be half a token, and stands in no log.
    return undefined;
  }
}

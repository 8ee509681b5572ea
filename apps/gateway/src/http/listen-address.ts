import { atPort, isLoopback, MusterError } from '#contracts';

export type ListenAddress = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string };

const wrong = (text: string, why: string): MusterError =>
  new MusterError('CONFIG_INVALID', `http.listen "${text}": ${why}`);

/**
 * `127.0.0.1:9007`, `[::1]:9007`, `unix:/path`, several separated by commas.
 * @throws MusterError CONFIG_INVALID, also for an address that others can reach while no tokens are configured: whoever
 * reaches the API can power off machines.
 */
export function parseListen(listen: string, tokensConfigured: boolean): ListenAddress[] {
  const parts = listen
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) throw wrong(listen, 'names no address');
  return parts.map((part) => parseOne(part, tokensConfigured));
}

function parseOne(text: string, tokensConfigured: boolean): ListenAddress {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    if (!path.startsWith('/')) throw wrong(text, 'a unix socket needs an absolute path');
    // sun_path holds 108 bytes with its end mark; the kernel would cut a longer one in silence.
    if (Buffer.byteLength(path) > 107) throw wrong(text, 'the path of a unix socket has at most 107 bytes');
    return { kind: 'unix', path };
  }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  if (match === null) throw wrong(text, 'expected host:port or unix:/path');
  const host = match[1] ?? match[2] ?? '';
  const port = Number(match[3]);
  if (port > 65_535) throw wrong(text, 'a port is at most 65535');
  if (!tokensConfigured && !isLoopback(host))
    throw wrong(text, 'only loopback addresses and unix sockets are served without tokens; configure http.tokens');
  return { kind: 'tcp', host, port };
}

export const listenText = (a: ListenAddress): string => (a.kind === 'unix' ? `unix:${a.path}` : atPort(a.host, a.port));

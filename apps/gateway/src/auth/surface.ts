import { applyDecorators, Controller, SetMetadata } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';

/** Muster's own API, with problem+json errors; every other path belongs to the clusterm surface and its plain texts. */
export const isOwnSurface = (url: string): boolean =>
  /^\/(v1|healthz|readyz|metrics|docs|openapi\.json)(?:[/?]|$)/.test(url);

/** Marks a controller of the clusterm surface for the guard, which knows the route and not only its path. */
export const CLUSTERM_KEY = 'muster:clusterm';

/**
 * A controller of the clusterm surface. What only old clients are given holds here and nowhere else: HTTP Basic, and
 * `compat.allowFrom`.
 */
export const ClustermController = (prefix = ''): ClassDecorator =>
  applyDecorators(ApiTags('clusterm'), SetMetadata(CLUSTERM_KEY, true), Controller(prefix));

/**
 * A request's target in the one spelling by which its surface is told: without scheme and host, without a fragment, and
 * with nothing encoded that stands for itself (RFC 3986, 2.3). The router takes `/%761/nodes` for `/v1/nodes`, so that
 * the rules of the other surface would hold for it.
 */
export function canonicalTarget(target: string): string {
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  const end = local.indexOf('?');
  const path = end === -1 ? local : local.slice(0, end);
  const decoded = path.replace(/%([2-7][0-9a-f])/gi, (coded, hex: string) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : coded;
  });
  return decoded + local.slice(path.length) || '/';
}

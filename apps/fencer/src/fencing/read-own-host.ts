import { hostname, networkInterfaces } from 'node:os';
import type { OwnHost } from './own-host.js';

/** As it is now: addresses come and go. */
export function readOwnHost(): OwnHost {
  const addresses = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter((x) => !x.internal)
    .map((x) => x.address);
  return { name: hostname(), addresses };
}

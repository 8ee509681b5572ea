import { existsSync, readFileSync } from 'node:fs';

/** From dist, or from the sources (specs). */
const places = ['../../../../../package.json', '../../../../package.json'].map(
  (path) => new URL(path, import.meta.url),
);

/** Of the Muster that this program came with; `unknown` where it does not say. */
export function packageVersion(): string {
  const place = places.find((path) => existsSync(path));
  if (place === undefined) return 'unknown';
  return (JSON.parse(readFileSync(place, 'utf8')) as { version?: string }).version ?? 'unknown';
}

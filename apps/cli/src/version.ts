import { existsSync, readFileSync } from 'node:fs';

/** From dist, or from the sources (specs). */
const places = ['../../../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));

/** Of the package that this program came with. */
export function version(): string {
  const place = places.find((path) => existsSync(path));
  if (place === undefined) return 'unknown';
  return (JSON.parse(readFileSync(place, 'utf8')) as { version?: string }).version ?? 'unknown';
}

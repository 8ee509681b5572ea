import { createHash } from 'node:crypto';
import type { PowerDevice } from './node.js';

/**
 * Tells a node's power devices from the same ones after an edit: which there are, where, and who asks there. What was
 * ordered or read before says nothing of them after it.
 */
export function devicesMark(levels: readonly (readonly PowerDevice[])[]): string {
  const parts = levels.map((level) =>
    level.map(({ id, driver, address, port, username, secret, options }) => [
      ...[id, driver, address, port ?? '', username ?? '', secret ?? ''],
      Object.entries(options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)),
    ]),
  );
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

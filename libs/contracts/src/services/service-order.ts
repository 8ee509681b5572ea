import { MusterError } from '../errors/errors.js';
import type { ServiceDeclaration } from './service-file.js';

type Ordered = Pick<ServiceDeclaration, 'name' | 'after'>;

/**
 * In the order in which they are set up: each after what its `after` names, else by name, so that the order is the same
 * on every worker.
 * @param folder as told in refusals
 * @throws CONFIG_INVALID for a service that is not there, and for a circle
 */
export function inOrder<T extends Ordered>(services: readonly T[], folder: string): T[] {
  const byName = new Map(services.map((s) => [s.name, s]));
  for (const s of services)
    for (const before of s.after)
      if (!byName.has(before))
        throw invalid(`${folder}/${s.name}/service.yml: after: there is no service ${before} in ${folder}`);
  const done = new Set<string>();
  const order: T[] = [];
  const visit = (s: T, way: readonly string[]): void => {
    if (done.has(s.name)) return;
    const from = way.indexOf(s.name);
    if (from >= 0)
      throw invalid(`${folder}: services wait for each other: ${[...way.slice(from), s.name].join(' → ')}`);
    for (const before of [...s.after].sort()) {
      const other = byName.get(before);
      if (other !== undefined) visit(other, [...way, s.name]);
    }
    done.add(s.name);
    order.push(s);
  };
  for (const s of [...services].sort((a, b) => (a.name < b.name ? -1 : 1))) visit(s, []);
  return order;
}

const invalid = (message: string): MusterError => new MusterError('CONFIG_INVALID', message);

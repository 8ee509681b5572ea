import type { NodeView } from '#contracts';
import type { Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { Refusal } from '../server/server.js';

/**
 * Asks about a node by its name, or where there is none of that name by the beginning of one that no other has. For
 * questions only: a command that changes something takes whole names, since by tomorrow the beginning of one may be
 * another's.
 * @throws Refusal, Failure where several begin so
 */
export async function askByPrefix<T>(run: Run, given: string, ask: (name: string) => Promise<T>): Promise<T> {
  try {
    return await ask(given);
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.status !== 404) throw refusal;
    const nodes = await run.server.all<NodeView>('/v1/nodes');
    const meant = nodes.map((node) => node.name).filter((name) => name.startsWith(given));
    const [only, ...more] = meant;
    if (only === undefined || meant.includes(given)) throw refusal;
    if (more.length > 0) throw new Failure(`${given} may be ${few(meant)}: write more of the name`);
    return ask(only);
  }
}

const few = (names: string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} or ${names.length - 5} others`;

import { MusterError, type GateCode } from '#contracts';
import { refusedPower, type PowerFacts } from '#domain/power/power-order.js';
import { isUpByRecord } from '#domain/verdict/heard.js';

/**
 * The first thing that stands against a drill; undefined: it may be ordered. It powers a serving node off to learn whose
 * its device is: so nothing may run there, it must be heard, and no device that may be switched must be known as another
 * machine's.
 * @param level the fencing level to be drilled, from 0. Where it does not work those after it are switched, too.
 */
export function refusedDrill(f: PowerFacts, level: number): MusterError | undefined {
  const { node } = f;
  const refuse = (
    code: 'BAD_REQUEST' | 'WORKLOADS_PRESENT' | 'NOT_DISCOVERED' | 'FENCING_REFUSED',
    text: string,
  ): MusterError => new MusterError(code, text, { node: node.name });
  const refused = refusedPower('cycle', f, level);
  if (refused !== undefined) return refused;
  const levels = node.powerLevels.length;
  if ((node.powerLevels[level] ?? []).length === 0)
    return refuse(
      'BAD_REQUEST',
      `${node.name} has no fencing level ${level + 1}: it has ${levels}. To see them: muster node power-device list ${node.name}.`,
    );
  if (f.workloads.length > 0)
    return refuse(
      'WORKLOADS_PRESENT',
      `${node.name} has workloads: ${f.workloads.join(' ')}. Drain it first: muster node drain ${node.name} --reason "…".`,
    );
  if (node.status !== 'Allocated')
    return refuse(
      'FENCING_REFUSED',
      `The status of ${node.name} is ${node.status}: only an Allocated node is drilled.`,
    );
  if (!isUpByRecord(node))
    return refuse('NOT_DISCOVERED', `${node.name} is not UP: that it falls silent would prove nothing.`);
  return undefined;
}

/** What a drill is let past: that the node lives is what it is about, and that nothing runs there is why it is cordoned. */
export const drillGates = (isCordoned: boolean): GateCode[] =>
  isCordoned ? ['LIFE_SIGN', 'NOT_FENCEABLE'] : ['LIFE_SIGN'];

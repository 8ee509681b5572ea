import { identityStanding, type IncidentRecord, type NodeRecord, type PowerDevice, type ProofDoubt } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { note } from '#domain/incident/steps.js';
import { areOtherDevices } from '#domain/power/ordered-devices.js';

/** A report of a node: in which boot, and how long ago, ms. */
type Heard = { bootId: string; agoMs: number };

/** Devices that have called it off, by this proof. A person's word rests on none. */
export const provenBy = ({ proof }: Pick<IncidentRecord, 'proof'>, node: NodeRecord | undefined): PowerDevice[] =>
  node === undefined || proof === undefined || proof.kind === 'manual'
    ? []
    : (node.powerLevels[proof.level ?? 0] ?? []);

/** Its node has other power devices than those that were ordered, see {@link areOtherDevices}. */
export const hasOtherDevices = (i: Pick<IncidentRecord, 'devices'>, node: NodeRecord | undefined): boolean =>
  node !== undefined && areOtherDevices(i, node.powerLevels);

/**
 * One of them that is another machine's, as was found since: with such a one nothing is proven. Undefined: none is, or an
 * administrator answers for it.
 */
export const foreignDevice = (
  i: Pick<IncidentRecord, 'proof'>,
  node: NodeRecord | undefined,
): PowerDevice | undefined => node && provenBy(i, node).find((d) => identityStanding(node, d) === 'mismatch');

/**
 * The same, where something would still be started by that proof. Where nothing is left to be, a device that is replaced
 * in a machine that is off speaks against nothing. A drill is judged first, and as a rule nothing runs there.
 */
export function foreignSince(
  i: IncidentRecord,
  node: NodeRecord | undefined,
  isEmpty: () => boolean,
): PowerDevice | undefined {
  const device = foreignDevice(i, node);
  if (device === undefined || (i.drill !== undefined && i.drill.result === undefined)) return undefined;
  const isLeft =
    i.phase === 'fenced'
      ? i.drill === undefined || !isEmpty()
      : i.recovery.some((r) => r.state !== 'running' && r.state !== 'skipped');
  return isLeft ? device : undefined;
}

/** The incident with its doubt on record. Undefined: it has one, or its proof is another one by now. */
export function doubted(now: IncidentRecord, provenAt: number, doubt: ProofDoubt): IncidentRecord | undefined {
  const { proof } = now;
  if (!isAfterOff(now) || proof === undefined || proof.at !== provenAt || proof.doubt !== undefined) return undefined;
  return { ...note(now, doubtText(doubt), doubt.at), proof: { ...proof, doubt } };
}

/** The boot that the doubt is about has ended: another one has spoken since this process saw the doubt, ms ago. */
export const hasBootedSince = (doubt: ProofDoubt, heard: Heard | undefined, seenForMs: number): boolean =>
  doubt.bootId !== undefined && heard !== undefined && heard.bootId !== doubt.bootId && heard.agoMs < seenForMs;

/** The incident without its doubt. Undefined: it has none, or another one. */
export function undoubted(now: IncidentRecord, doubt: ProofDoubt, at: number): IncidentRecord | undefined {
  if (!isAfterOff(now) || now.proof?.doubt?.at !== doubt.at) return undefined;
  const { doubt: _over, ...proof } = now.proof;
  return {
    ...note(now, 'It has spoken in another boot: the one that its proof of off was about has ended.', at),
    proof,
  };
}

const doubtText = ({ device }: ProofDoubt): string =>
  device === undefined
    ? 'It has spoken in the boot that its proof of off had ended: nothing more of it is started elsewhere.'
    : `Its power device ${device} was found to be another machine's: nothing more of it is started elsewhere.`;

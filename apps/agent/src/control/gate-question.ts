import { isWireError } from '#contracts/errors/errors.js';
import type { GateAnswer } from '#contracts/wire/peers.js';

/** ms for the control plane's answer. */
export const GATE_LIMIT = 2_000;

/**
 * What the control plane's answer means for a start here. Fails closed: an error, an unclear answer, or another
 * generation than the unit was made for is a no.
 */
export function judgeGate(text: string, generation: number | undefined): GateAnswer {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { allowed: false, reason: 'the control plane answered something that is not JSON' };
  }
  if (isWireError(raw)) return { allowed: false, reason: `${raw.code}: ${raw.message}` };
  const answer = raw as Partial<GateAnswer> | null;
  if (typeof answer !== 'object' || answer === null || typeof answer.allowed !== 'boolean')
    return { allowed: false, reason: 'the control plane gave no clear answer' };
  const reason = typeof answer.reason === 'string' ? answer.reason : '';
  const current = answer.generation;
  const known = current === undefined ? {} : { generation: current };
  if (!answer.allowed) return { allowed: false, reason: reason || 'the control plane refuses', ...known };
  if (generation !== undefined && current !== generation)
    return {
      allowed: false,
      reason: `generation ${generation} is not the current one (${current ?? 'none'})`,
      ...known,
    };
  return { allowed: true, reason, ...known };
}

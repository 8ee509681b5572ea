import { MusterError, phaseText, type GateCode, type IncidentRecord, type VerdictKind } from '#contracts';
import { go } from '#domain/incident/steps.js';
import { standingRelease } from '#domain/incident/verdict-effect.js';

/** A person's release of an incident that a gate has stopped. */
export interface Release {
  by: string;
  reason: string;
  /** Wall clock, for people. */
  at: number;
  /** That stopped it. */
  gate: GateCode;
  force: boolean;
  /** The verdict as of now. */
  wantedAt: VerdictKind;
}

/**
 * The gate that a release goes past.
 * @param seen by the person; undefined: whichever it is
 * @throws MusterError INCIDENT_STATE where none stops it, or another one by now
 */
export function gateToRelease({ node, phase, gate }: IncidentRecord, seen?: GateCode): GateCode {
  const refusal = (why: string): MusterError =>
    new MusterError('INCIDENT_STATE', `The incident of ${node} is ${phaseText({ phase, gate })}: ${why}`, {
      node,
      phase,
    });
  if (phase !== 'suppressed' || gate === undefined) throw refusal('no gate stops it.');
  if (seen !== undefined && seen !== gate) throw refusal(`it is not released past ${seen}. Look at it again.`);
  return gate;
}

/** Past the gate that stopped it, and past those whose release still stands; all others are asked again. */
export function released(i: IncidentRecord, { by, reason, at, gate, force, wantedAt }: Release): IncidentRecord {
  const earlier = standingRelease(i, wantedAt);
  return {
    ...go(i, 'investigating', `${by} released it past ${gate}: ${reason}`, at),
    wantedAt,
    released: {
      ...{ by, reason, at },
      gates: [...new Set([...(earlier?.gates ?? []), gate])],
      force: force || earlier?.force === true,
    },
  };
}

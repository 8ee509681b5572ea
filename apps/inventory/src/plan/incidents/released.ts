import type { GateCode, IncidentRecord, VerdictKind } from '#contracts';
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

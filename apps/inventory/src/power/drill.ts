import { firstLevel } from '#domain/power/levels.js';
import { drilledIdentity, identityBasis, withIdentity, type IncidentRecord, type NodeRecord } from '#contracts';
import { hasOtherDevices } from './proof-doubt.js';

/** The agent of the node falls silent within this after the `off`, ms: else something else has silenced it. */
const DRILL_SILENT_MS = 5_000;
/** It has been silent for so long, ms, and so has whoever fell with it. */
const SILENT_FOR_MS = 3_000;
/** The last report before the off may be so old when that is given, ms. */
const SPOKE_BEFORE_MS = 3_000;

export interface DrillFacts {
  /** Since this process saw the proof, ms. */
  provenForMs: number;
  /** Since it saw the first `off`, ms; undefined: none was given, or before this process began. */
  offAgoMs: number | undefined;
  /** Since the node's own last report, ms; undefined: this process has never heard it. */
  unheardMs: number | undefined;
  /** Others that fell silent with it. */
  fell: readonly string[];
  sighted: boolean;
  /** The node's power devices are not those any more that were given the off. */
  edited: boolean;
}

export type DrillStep =
  /** `sighted`: a moment longer; else nobody knows who fell silent with it. */
  | { do: 'wait'; sighted: boolean }
  /** `isOther`: the device was seen to be another machine's. */
  | { do: 'judged'; ok: boolean; isOther: boolean; detail: string };

/**
 * Whose is the device? With the off that it was given this agent fell silent, within 5 s, and nobody else did. Where
 * nobody saw that, the drill has shown nothing, and says nothing of the device.
 */
export function decideDrill(i: Pick<IncidentRecord, 'proof' | 'drill'>, f: DrillFacts): DrillStep {
  const judged = (ok: boolean, detail: string, isOther = false): DrillStep => ({ do: 'judged', ok, isOther, detail });
  if (i.proof?.kind === 'manual') return judged(false, 'It was confirmed by hand: that says nothing of the device.');
  if (i.proof?.kind === 'already-off') return judged(false, 'Its device read as off before anything was given.');
  if (f.offAgoMs === undefined || f.unheardMs === undefined)
    return judged(false, 'Nobody saw when it fell silent: drill it again.');
  if (f.fell.length > 0)
    return judged(false, `With it ${f.fell.join(', ')} fell silent: its device may be theirs.`, true);
  if (f.edited) return judged(false, 'Its power devices were edited after the off was ordered: drill it again.');
  // One that speaks on contradicts the proof, which is void then.
  if (f.provenForMs < SILENT_FOR_MS || f.unheardMs < SILENT_FOR_MS || !f.sighted)
    return { do: 'wait', sighted: f.sighted };
  const [wanted, proven] = [firstLevel(i), i.proof?.level ?? 0];
  if (proven !== wanted)
    return judged(false, `Level ${wanted + 1} did not work, level ${proven + 1} did: which silenced it is not known.`);
  const spokeForMs = f.offAgoMs - f.unheardMs;
  if (spokeForMs > DRILL_SILENT_MS)
    return judged(false, `It spoke for ${(spokeForMs / 1000).toFixed(1)} s after the off: it was silenced by another.`);
  if (spokeForMs < -SPOKE_BEFORE_MS) return judged(false, 'It was silent before the off.');
  return judged(true, 'It fell silent with the off, and nobody else did.');
}

/**
 * The node with what a drill has shown of the devices that were switched. Undefined: nothing, or nothing of its devices as
 * they are.
 */
export function drilled(
  n: NodeRecord,
  i: Pick<IncidentRecord, 'proof' | 'devices'>,
  step: Extract<DrillStep, { do: 'judged' }>,
  at: number,
): NodeRecord | undefined {
  if ((!step.ok && !step.isOther) || hasOtherDevices(i, n)) return undefined;
  let next = n;
  for (const d of n.powerLevels[i.proof?.level ?? 0] ?? [])
    next = withIdentity(
      next,
      d.id,
      step.ok
        ? drilledIdentity(n, d, at)
        : { result: 'mismatch', at, why: `by a drill: ${step.detail.replace(/\.$/, '')}`, basis: identityBasis(d) },
    );
  return next;
}

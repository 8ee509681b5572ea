import { GateCodes } from './incident.js';

interface Phase {
  phase: string;
  /** Where a gate stops it: which one. */
  gate?: string | undefined;
}

/** The phase of an incident where a person reads it: `blocked by PAUSED`, `failed`. Programs go by its code. */
export function phaseText({ phase, gate }: Phase): string {
  if (phase === 'suppressed') return `blocked by ${gate ?? 'a gate'}`;
  return gate === undefined ? phase : `${phase} (${gate})`;
}

/** A step of an incident, or its phase with why: `blocked by CAP: 2 of 2`, `fenced: two off-reads`. */
export function stepText({ phase, gate, detail = '' }: Phase & { detail?: string | undefined }): string {
  // Of an incident only the last gate is on record: the words of a step name their own.
  const own = phase === 'suppressed' ? GateCodes.find((code) => detail.startsWith(`${code}: `)) : undefined;
  const text = own === undefined ? detail : detail.slice(`${own}: `.length);
  const head = phaseText({ phase, gate: own ?? gate });
  return text === '' ? head : `${head}: ${text}`;
}

import type { Verdict, VerdictEvidence, Wordless } from './verdict.js';

/**
 * `heard`: it echoes. `missing`: as many probes in a row were lost as make a suspect, `silent`: as make the silence
 * timeout. `stale`: the observer's report is too old to count, `abstains`: it says itself that it does not, `mute`: it
 * cannot send on that network itself. `unknown`: it has no answer yet, and misses none.
 */
export type LinkHealth = 'heard' | 'missing' | 'silent' | 'stale' | 'abstains' | 'mute' | 'unknown';

/** What one observer says of a node on one network. */
export interface EvidenceCell {
  health: LinkHealth;
  /** Consecutive probes that were due while the observer ran and were not answered. */
  misses: number;
  rttUs?: number;
  /** In a thousand of about the last minute's probes; absent: none. */
  lostPermille?: number;
}

/** What one observer says of a node. */
export interface EvidenceRow {
  observer: string;
  /** How it counted: see {@link ObserverEvidence}. */
  stance: 'accuses' | 'hears' | 'absent';
  /** It was asked by the monitor, and is not assigned to the node. */
  polled?: true;
  /** Why it says nothing of the node: then it has no cell in any network. */
  wordless?: Wordless;
  /** Age of its report when the verdict was given, ms: its stance is as old as that. Absent: none was ever heard. */
  reportAgeMs?: number;
  /** By network; one that they do not share is left out. */
  networks: Record<string, EvidenceCell>;
}

/** Why a verdict was given: `GET /v1/nodes/{name}/evidence`. */
export interface NodeEvidence {
  node: string;
  /** `now`: asked of the active detector for this answer. `stored`: as it was published, at `asOf`. */
  source: 'now' | 'stored';
  /** Wall clock, ms: when the detector looked. Absent: no verdict was ever given. */
  asOf?: number;
  /** `null`: none was ever given. */
  verdict: Omit<Verdict, 'evidence'> | null;
  /** Wall clock, ms: when this verdict, with these networks, was first published; absent where it is not kept. */
  since?: number;
  /** Columns of the matrix. */
  networks: string[];
  /** Rows of the matrix. */
  observers: EvidenceRow[];
  /** What was counted, and what the monitor saw itself; absent where only the registry knows the verdict. */
  counts?: Omit<VerdictEvidence, 'observers' | 'wordless'>;
}

/**
 * What differs on one node: between what was set up last and what would be set up now, and between that and what stands
 * there. Secrets are masked in it, and it is bounded.
 */
export interface CheckDiff {
  /** Each that was looked at, also where nothing of it differs. */
  services: ServiceDiff[];
  /** Lines and parts that are left out, since a record holds no more. @default none */
  cut?: number;
}

export interface ServiceDiff {
  service: string;
  /** Why nobody can say what was set up last, where it is so: its parts are those that stand on the node only. */
  unknown?: string;
  /** Those that differ. */
  parts: PartDiff[];
}

/**
 * - `setting`: version, group, mode, … `-` as set up last, `+` as it would be set up
 * - `variable`, `template` (below `templates/`, rendered), `file` (below `files/`): the same
 * - `standing`: a path on the node that the check compares. `-` as it stands there, `+` as it would be set up
 */
export type PartKind = 'setting' | 'variable' | 'template' | 'file' | 'standing';

export interface PartDiff {
  kind: PartKind;
  name: string;
  /** As in a unified diff, without the two names: `@@ -1,3 +1,3 @@`, and lines that begin with a space, `-` or `+`. */
  lines: string[];
  /** What the lines do not say: `missing`, `differs in what is hidden`, … */
  note?: string;
  /** Lines that are left out. */
  cut?: number;
}

/** From well to broken. `unknown`: it could not be looked at, which is not well; `skipped`: it does not apply here. */
export const FindingStates = ['ok', 'skipped', 'unknown', 'warn', 'bad'] as const;
export type FindingState = (typeof FindingStates)[number];

/** One line of the doctor. */
export interface Finding {
  /** What was looked at, `area.thing`: the same word in every release. */
  check: string;
  /** Whose: a server, a node, a file. */
  subject: string;
  state: FindingState;
  /** What is so. */
  text: string;
  /** What to do: a command, or a sentence. With every state but `ok` and `skipped`. */
  remedy?: string;
}

/** What was asked of somebody, or why there is no answer. */
export type Asked<T> = { value: T } | { failed: string };

export const ok = (check: string, subject: string, text: string): Finding => ({ check, subject, state: 'ok', text });
export const skipped = (check: string, subject: string, text: string): Finding => ({
  check,
  subject,
  state: 'skipped',
  text,
});

const finding =
  (state: FindingState) =>
  (check: string, subject: string, text: string, remedy: string): Finding => ({ check, subject, state, text, remedy });
export const unknown = finding('unknown');
export const warn = finding('warn');
export const bad = finding('bad');

/** Exit code of `muster doctor`: 0 all is well, 1 something is to be looked at or unknown, 2 something is broken. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some((f) => f.state === 'bad')) return 2;
  return findings.some((f) => f.state === 'warn' || f.state === 'unknown') ? 1 : 0;
}

/** The worst first; within a state in the order that they were found. */
export const worstFirst = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => FindingStates.indexOf(b.state) - FindingStates.indexOf(a.state));

export interface ContractCase {
  group: string;
  title: string;
  /** It restarts the server: nothing may run beside it. */
  alone: boolean;
  run(): Promise<void>;
}

type AddCase = (title: string, body: () => Promise<void>) => void;

/** Collects the cases of one concept, as a spec file does its tests. */
export interface CaseGroup {
  it: AddCase;
  /** One that restarts the server. */
  itAlone: AddCase;
  /** Of the cases that are added after it. */
  beforeEach: (prepare: () => Promise<unknown>) => void;
}

/** @param into the cases of all groups */
export function caseGroup(group: string, into: ContractCase[]): CaseGroup {
  const before: (() => Promise<unknown>)[] = [];
  const add =
    (alone: boolean): AddCase =>
    (title, body) => {
      const first = [...before];
      const run = async (): Promise<void> => {
        for (const prepare of first) await prepare();
        await body();
      };
      into.push({ group, title, alone, run });
    };
  return { it: add(false), itAlone: add(true), beforeEach: (prepare) => void before.push(prepare) };
}

/**
 * How a symbol is broken. A text names exactly one node within the symbol; white space, comments, semicolons and
 * commas at the end do not count.
 */
export type Operation =
  /** A statement is left out; as the branch of an `if` it becomes an empty one. */
  | { drop: string }
  /** A row of a table is left out: a property, an element, or a case. */
  | { row: string }
  /** One operand of `&&`, `||` or `??` is left out. */
  | { operand: string }
  | { negate: string }
  /** The constant, property or default of this name gets another value. */
  | { set: string; to: string }
  /** Where nothing above says it: an expression or a statement becomes another. */
  | { replace: string; with: string };

export interface Mutant {
  /** What goes wrong: a sentence, and unique within its area. */
  name: string;
  /** From the root of the tree. */
  file: string;
  /** Dotted path of declarations: `Monitor.hear`, `decideFence`, `WANTED.inUse`, `constructor` of a class among them. */
  symbol: string;
  /** Several are carried out together; each is found in the text as it is. */
  operation: Operation | readonly Operation[];
  /** Specs that guard it: one of them must turn red. */
  specs?: readonly string[];
  /** Only the tests of these specs that have this in their full name: where the others would take tens of seconds. */
  test?: string;
  /** Its specs run this file from the build, as a process of its own: it is compiled anew, too. */
  built?: true;
  /** Simulations (`npm run sim -- NAME`) that must find a violation where no spec is named or none turns red. */
  sims?: readonly string[];
}

/** A safety line of one area. */
export interface AreaMutant extends Mutant {
  area: string;
}

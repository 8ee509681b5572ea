/** Nodes of one file, at most. */
export const MOST_ROWS = 2000;
/** Levels of nesting in a file: those of a variable, and what stands around it. */
export const DEEPEST = 40;
/** Members of one mapping, and columns of a table. */
export const MOST_KEYS = 1000;
/** Items of one list, and aliases in a whole file. */
export const MOST_ITEMS = 2000;
/** Lexical parts of a whole file: a node of twenty fields has some two hundred. */
export const MOST_TOKENS = 1_500_000;
/** Values of a whole file when its aliases are written out. */
export const MOST_VALUES = 200_000;
/** Findings that are kept of one file. */
export const MOST_FINDINGS = 1000;

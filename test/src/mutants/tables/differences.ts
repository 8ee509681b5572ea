import type { Mutant } from '../mutant.js';

const DIFF = ['apps/provisioner/src/diff/check-diff.spec.ts'];
const LINES = 'apps/provisioner/src/diff/shown-lines.ts';
const CHECK = 'apps/provisioner/src/diff/check-diff.ts';

/** What differs on a node is shown line by line, and no secret with it. */
export const differences: readonly Mutant[] = [
  {
    name: 'a known secret in a line that differs is shown',
    file: LINES,
    symbol: 'shownLines',
    operation: { replace: 'hidden.mask(line)', with: 'line' },
    specs: DIFF,
  },
  {
    name: 'a line that shows by itself that it holds a secret is shown',
    file: LINES,
    symbol: 'shownLines',
    operation: { operand: 'isSecretText(line)' },
    specs: DIFF,
  },
  {
    name: 'a line that begins with the name of a secret is shown',
    file: LINES,
    symbol: 'shownLines',
    operation: { operand: 'isNamedSecret(line)' },
    specs: DIFF,
  },
  {
    name: 'lines of a private key are shown',
    file: LINES,
    symbol: 'shownLines',
    operation: { operand: 'wasKey' },
    specs: DIFF,
  },
  {
    name: 'a secret on the line behind its name is shown',
    file: LINES,
    symbol: 'shownLines',
    operation: { operand: 'isValue' },
    specs: DIFF,
  },
  {
    name: 'short lines of a secret that has several are shown',
    file: LINES,
    symbol: 'shownLines',
    operation: { operand: 'hidden.lines.has(line.trim())' },
    specs: DIFF,
  },
  {
    name: 'a secret that the run knows of is shown in what differs',
    file: CHECK,
    symbol: 'checkDiff',
    operation: { replace: '[...secrets, ...secretsIn(parts)]', with: 'secretsIn(parts)' },
    specs: DIFF,
  },
  {
    name: 'what the log of a job hides is shown in what differs',
    file: CHECK,
    symbol: 'checkDiff',
    operation: { replace: 'mask(known.mask(text))', with: 'known.mask(text)' },
    specs: DIFF,
  },
  {
    name: 'a secret of the last set-up is shown in what differs',
    file: CHECK,
    symbol: 'secretsIn',
    operation: { replace: '[...parts.now.values(), ...parts.last.values()]', with: '[...parts.now.values()]' },
    specs: DIFF,
  },
  {
    name: 'a secret that does not count in the checksum is shown in what differs',
    file: CHECK,
    symbol: 'secretsIn',
    operation: { replace: 'secretsOf(p.secrets, true)', with: '[]' },
    specs: DIFF,
  },
  {
    name: 'the value of a secret variable is shown where another holds it',
    file: CHECK,
    symbol: 'secretsIn',
    operation: { replace: 'secretsOf(p.variables)', with: '[]' },
    specs: DIFF,
  },
  {
    name: 'a variable whose name says that it is secret is shown in what differs',
    file: CHECK,
    symbol: 'variableDiff',
    operation: { replace: 'masked({ [name]: from[name] })[name]', with: 'from[name]' },
    specs: DIFF,
  },
  {
    name: 'a file whose name is that of a secret is shown, or its hash',
    file: CHECK,
    symbol: 'textDiff',
    operation: { replace: 'isSecretName(basename(name))', with: 'false' },
    specs: DIFF,
  },
  {
    name: 'what somebody wrote by hand into a file that holds a secret is shown',
    file: CHECK,
    symbol: 'textDiff',
    operation: { replace: 'holdsSecret && isForeign ? MASK : shownBefore[at]', with: 'shownBefore[at]' },
    specs: DIFF,
  },
];

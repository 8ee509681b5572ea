/** Options that the old client took with one dash too, as all programs written with Go's `flag` do. */
const LONG = /^-(extra-vars|host-group|json|follow|url|version|help)(=|$)/;
const GROUPS = new Set(['node', 'n', 'nodes', 'a', 'global', 'g', 'job', 'j', 'config', 'c']);
const WITH_VALUE = new Set(['-u', '--url']);

/** A command line of the old client as this program's parser takes it: `h` is `help`, `-json` is `--json`. */
export function modernWords(words: string[]): string[] {
  const modern = words.map((word) => (LONG.test(word) ? `-${word}` : word));
  const first = operand(modern, 0);
  const second = GROUPS.has(modern[first] ?? '') ? operand(modern, first + 1) : first;
  return modern.map((word, i) => (word === 'h' && (i === first || i === second) ? 'help' : word));
}

/** Where the next word stands that is no option, nor the value of one. */
function operand(words: string[], from: number): number {
  let i = from;
  while ((words[i] ?? '').startsWith('-')) i += WITH_VALUE.has(words[i] ?? '') ? 2 : 1;
  return i;
}

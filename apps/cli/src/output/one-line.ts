const ESCAPE = '\u001b';
const BREAKS = new RegExp(`\\r\\n|(?!${ESCAPE}\\[\\d+m)\\p{Cc}`, 'gu');

/**
 * A text as part of a line: what would end the line, or steer the terminal, becomes a space. Colours stay: they are the
 * program's own.
 */
export const oneLine = (text: string): string => text.replaceAll(BREAKS, ' ');

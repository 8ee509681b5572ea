/**
 * A text as part of a line: what would end the line, or steer the terminal, becomes a space. Colours stay: they are the
 * program's own.
 */
export const oneLine = (text: string): string => text.replaceAll(/\r\n|(?!\u001b\[\d+m)\p{Cc}/gu, ' ');

/** The first thing that a person does about an alarm, a gate, or something that is not in service. */
export interface Remedy {
  /** One or two sentences. */
  text: string;
  /** A whole command line of `muster`. What stands in capitals, or as `…`, is to be filled in. */
  command: string;
}

/** As one word of a command line: names of ours stay as they are, anything else is quoted for a shell. */
export const word = (text: string): string =>
  /^[\w.:=@/~+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

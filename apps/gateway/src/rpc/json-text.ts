/** An answer that is JSON already, as a record's text and its revision. */
export class JsonText {
  constructor(
    readonly text: string,
    readonly revision: number,
  ) {}

  parsed(): Record<string, unknown> {
    return JSON.parse(this.text) as Record<string, unknown>;
  }
}

import { StringDecoder } from 'node:string_decoder';

/** A line longer than this is handed on in pieces, so that one endless line cannot eat the memory. */
export const MAX_LINE = 256 * 1024;

/** Bytes in, lines out, across chunk borders and split characters; `end` hands on what has no newline. */
export class LineSplitter {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    this.take(this.decoder.write(chunk));
  }

  end(): void {
    this.take(this.decoder.end());
    if (this.rest !== '') this.onLine(this.rest);
    this.rest = '';
  }

  private take(text: string): void {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop() ?? '';
    for (const part of parts) this.onLine(part.endsWith('\r') ? part.slice(0, -1) : part);
    while (this.rest.length > MAX_LINE) {
      this.onLine(this.rest.slice(0, MAX_LINE));
      this.rest = this.rest.slice(MAX_LINE);
    }
  }
}

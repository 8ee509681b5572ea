import { createInterface } from 'node:readline';
import type { Words } from './cli.js';

/** One command line for a lab that serves. */
export interface LabRequest {
  id: number;
  args: string[];
}

/** A line of its progress, or its end. */
export type LabWord = { id: number; line: string } | { id: number; code: number; out: string };

/**
 * Runs the command lines that come on stdin, those that overlap at once, until stdin ends. To start a process takes half
 * a second of the machine, and a fleet's tests ask for thousands of commands.
 */
export async function serve(run: (args: readonly string[], words: Words) => Promise<number>): Promise<void> {
  const tell = (word: LabWord): void => void process.stdout.write(`${JSON.stringify(word)}\n`);
  const underWay = new Set<Promise<void>>();
  for await (const text of createInterface({ input: process.stdin })) {
    const { id, args } = JSON.parse(text) as LabRequest;
    const answered = answer(id, args).finally(() => underWay.delete(answered));
    underWay.add(answered);
  }
  await Promise.all(underWay);

  async function answer(id: number, args: readonly string[]): Promise<void> {
    let out = '';
    const words: Words = {
      out: (more) => (out += more),
      err: (lines) => {
        for (const line of lines.split('\n')) if (line.trim() !== '') tell({ id, line });
      },
    };
    const code = await run(args, words);
    tell({ id, code, out });
  }
}

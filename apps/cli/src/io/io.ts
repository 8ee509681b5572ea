import type { Readable } from 'node:stream';

/** A stream of ours, and the terminal behind it where there is one. */
export interface Out {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** All that this program has of its surroundings, apart from files and the network. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Out;
  stderr: Out;
  env: NodeJS.ProcessEnv;
  /** What we were called by, and what came behind it. */
  program: string;
  args: string[];
}

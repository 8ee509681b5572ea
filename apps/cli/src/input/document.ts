import { readFile } from 'node:fs/promises';
import { Failure } from '../failure/failure.js';
import type { Io } from '../io/io.js';

/** `-` is stdin. @throws Failure */
export async function readText(io: Io, file: string): Promise<string> {
  if (file === '-') return readStdin(io);
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Failure(`${file}: ${(cause as Error).message.replace(/^[A-Z]+: |, \w+( '.*')?$/g, '')}`);
  }
}

export async function readStdin({ stdin }: Io): Promise<string> {
  let text = '';
  for await (const more of stdin.setEncoding('utf8')) text += more as string;
  return text;
}

/** A file of JSON or YAML that holds one mapping. @throws Failure */
export async function readMapping(io: Io, file: string): Promise<Record<string, unknown>> {
  const { parse } = await import('yaml');
  const name = file === '-' ? 'stdin' : file;
  let value: unknown;
  try {
    value = parse(await readText(io, file));
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(`${name}: ${(cause as Error).message.split('\n')[0]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Failure(`${name}: expected a mapping, as JSON or YAML`);
  return value as Record<string, unknown>;
}

import type { Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { Refusal } from '../server/server.js';
import { countText, type OldRequest, refusalText } from './fatal.js';
import { goLines } from './go-text.js';

/** Asks for a path, which begins without a slash, and answers what stood on the wire. @throws Failure, NoServer */
export const fetchText = (run: Run, path: string): Promise<string> =>
  inOldWords(path, undefined, () => run.server.text(urlOf(path)));

/** The old client left out what was blank. @throws Failure, NoServer */
export async function post(run: Run, path: string, request: OldRequest): Promise<void> {
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined && value !== ''));
  await inOldWords(path, request, () => run.server.post(urlOf(path), given));
}

/** Runs a request; a refusal of it is told with what was asked. @throws Failure */
export async function inOldWords<T>(path: string, request: OldRequest | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Refusal) throw new Failure(refusalText(path, request, cause));
    throw cause;
  }
}

const urlOf = (path: string): string => `/${path.split('/').map(encodeURIComponent).join('/')}`;

/** Four spaces deep, with nothing behind the last brace: as the old client indented what the server sent. */
export const printJson = (run: Run, text: string): void =>
  run.terminal.out(JSON.stringify(JSON.parse(text), undefined, 4));

export function printLines(run: Run, value: unknown, indent = ''): void {
  for (const line of goLines(value, indent)) run.terminal.line(line);
}

/** The wrong number of arguments is told before anything is asked. @throws Failure */
export function expectOne(args: string[]): string {
  const [only, ...more] = args;
  if (only === undefined || more.length > 0) throw new Failure(countText('1', args.length));
  return only;
}

/** @throws Failure */
export function expectSome(args: string[]): void {
  if (args.length === 0) throw new Failure(countText('>=1', 0));
}

/** What comes behind the first one was never looked at where something was asked for. @throws Failure */
export function expectFirst([first]: string[]): string {
  if (first === undefined || first === '') throw new Failure(countText('1', 0));
  return first;
}

/** @throws Failure */
export function expectNone(args: string[]): void {
  if (args.length > 0) throw new Failure(countText('0', args.length));
}

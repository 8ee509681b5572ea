import { Failure, UsageFailure } from '../failure/failure.js';
import type { Io } from '../io/io.js';
import { readStdin, readText } from './document.js';

export interface PasswordOptions {
  passwordFile?: string;
  passwordStdin?: boolean;
}

/** From a file or stdin, never from argv, where every user of the machine could read it. @throws Failure */
export async function readPassword(io: Io, o: PasswordOptions): Promise<{ password?: string }> {
  if (o.passwordFile !== undefined && o.passwordStdin === true)
    throw new UsageFailure('either --password-file or --password-stdin');
  if (o.passwordFile === undefined && o.passwordStdin !== true) return {};
  const text = o.passwordFile === undefined ? await readStdin(io) : await readText(io, o.passwordFile);
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new Failure('the password is empty');
  if (/[\r\n]/.test(password)) throw new Failure('the password has more than one line');
  return { password };
}

import { MusterError } from '#contracts/errors/errors.js';
import { Failure } from './failure.js';

/** What is done to the files of the control machine. @throws Failure where they do not allow it */
export async function onFiles<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof MusterError) throw new Failure(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new Failure((error as Error).message);
    throw error;
  }
}

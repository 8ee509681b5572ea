import { readFileSync } from 'node:fs';
import { MusterError } from '#contracts';

/**
 * What a JSON file of keys holds. CONFIG_INVALID names the file, never its content.
 * @param check throws where something is missing or is no key
 * @param mustHold for people: what should be in the file
 */
export function readKeyFile<T>(file: string, check: (raw: T) => T, mustHold: string): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', `the key file ${file} cannot be read`, { file }, { cause });
  }
  try {
    return check(JSON.parse(text) as T);
  } catch {
    // Without the cause: it may quote a seed.
    throw new MusterError('CONFIG_INVALID', `the key file ${file} must hold ${mustHold}`, { file });
  }
}

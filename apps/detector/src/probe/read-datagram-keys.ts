import { readFileSync } from 'node:fs';
import { MusterError, parseDatagramKeys } from '#contracts';

/**
 * The keys of the cluster's datagrams.
 * @param file `keys.datagram` of the configuration
 * @throws CONFIG_INVALID where there is none, or it cannot be read
 */
export function readDatagramKeys(file: string | undefined): Buffer[] {
  if (file === undefined)
    throw new MusterError('CONFIG_INVALID', 'keys.datagram: the detector needs the key file of the datagrams');
  try {
    return parseDatagramKeys(readFileSync(file, 'utf8'));
  } catch (e) {
    throw new MusterError('CONFIG_INVALID', `keys.datagram: ${file}: ${(e as Error).message}`, {}, { cause: e });
  }
}

import { ifMatch } from './if-match.js';
import { Refusal, type Server } from './server.js';

/**
 * Changes a record from what it is now: PATCH on the revision that was read. Somebody may have been quicker once; who
 * loses twice is told.
 * @throws Refusal, NoServer
 */
export async function edit<T extends { revision: number }>(
  server: Server,
  path: string,
  change: (record: T) => object,
): Promise<T> {
  const once = async (): Promise<T> => {
    const record = await server.get<T>(path);
    return server.exchange<T>('PATCH', path, change(record), ifMatch(record.revision));
  };
  try {
    return await once();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'REVISION_CONFLICT') throw error;
    return once();
  }
}

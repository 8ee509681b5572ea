import type { Decoded } from '#contracts';

/** For a bus on which a spec keeps values of its own. */
export const anyJson = (_bucket: string, _key: string, stored: string): Decoded => {
  try {
    return { value: JSON.parse(stored) as unknown };
  } catch {
    return { why: 'it is not JSON' };
  }
};

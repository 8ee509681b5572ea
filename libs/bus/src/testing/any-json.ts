import type { RecordCodec } from '#contracts';

/** For a bus on which a spec keeps values of its own, or looks at records as they stand. */
export const anyJson: RecordCodec = {
  decode: (_bucket, _key, stored) => {
    try {
      return { value: JSON.parse(stored) as unknown };
    } catch {
      return { why: 'it is not JSON' };
    }
  },
  encode: (_bucket, value) => JSON.stringify(value),
};

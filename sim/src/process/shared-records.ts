import { decode, encode, type Decoded, type RecordCodec } from '#contracts';

/**
 * Records as all processes of one world read them: what stands under a key is decoded once, and not by each of its ten
 * readers. As they have it together nobody may change it: it is frozen, and who tries is told by the engine. They are
 * written as the product writes them.
 */
export function sharedRecords(): RecordCodec {
  const newest = new Map<string, { stored: string; decoded: Decoded }>();
  return {
    decode: (bucket, key, stored) => {
      const at = `${bucket}/${key}`;
      const known = newest.get(at);
      if (known?.stored === stored) return known.decoded;
      const decoded = frozen(decode(bucket, key, stored));
      newest.set(at, { stored, decoded });
      return decoded;
    },
    encode,
  };
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const name in value) frozen(value[name]);
  return Object.freeze(value);
}

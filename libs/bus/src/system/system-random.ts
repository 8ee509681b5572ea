import { randomBytes, randomUUID } from 'node:crypto';
import type { Random } from '#contracts/ports/random.js';

export const systemRandom: Random = {
  number: () => Math.random(),
  bytes: (size) => randomBytes(size),
  hex: (size) => randomBytes(size).toString('hex'),
  uuid: () => randomUUID(),
};

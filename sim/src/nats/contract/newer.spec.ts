import { describe } from 'vitest';
import { natsContract } from './nats-contract.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { realWorld } from './real-world.js';

const newer = newerNats();
const program = 'program' in newer ? newer.program : undefined;
const name = 'program' in newer ? 'a newer nats-server' : `a newer nats-server (there is none: ${newer.missing})`;

(program === undefined ? describe.skip : describe)(name, () => {
  natsContract(() => realWorld(program));
});

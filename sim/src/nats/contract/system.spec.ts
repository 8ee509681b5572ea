import { describe } from 'vitest';
import { natsContract } from './nats-contract.js';
import { realWorld } from './real-world.js';

describe('the nats-server that specs run against', () => {
  natsContract(() => realWorld());
});

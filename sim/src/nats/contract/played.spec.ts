import { describe } from 'vitest';
import { natsContract } from './nats-contract.js';
import { playedWorld } from './played-world.js';

describe.each(['2.9.10', '2.15.1'] as const)('the played nats-server, as %s', (version) => {
  natsContract(() => Promise.resolve(playedWorld(version)));
});

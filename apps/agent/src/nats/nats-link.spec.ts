import { afterEach, describe, expect, it } from 'vitest';
import { once, EventEmitter } from 'node:events';
import { credentialsFile } from '#bus';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { loadCredentials } from '../config/agent-config.js';
import { NatsLink, type NatsCredentials } from './nats-link.js';

let nats: TestNats | undefined;
let link: NatsLink | undefined;
afterEach(async () => {
  await link?.close();
  await nats?.stop();
});

/** What happens to an agent with these credentials first: it is up, or what its log says. */
async function first(credentials: NatsCredentials): Promise<unknown> {
  const told = new EventEmitter();
  const quiet = () => undefined;
  const outcome = once(told, 'told', { signal: AbortSignal.timeout(20_000) });
  link = new NatsLink({
    network: 'management',
    servers: [nats!.url],
    node: 'n1',
    credentials,
    ears: [],
    onUp: () => void told.emit('told', 'up'),
    clock: systemClock,
    random: systemRandom,
    log: {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (_: string, facts?: object) => void told.emit('told', facts),
    } as never,
  });
  link.start();
  return ((await outcome) as unknown[])[0];
}

describe('the link of an agent to a NATS that speaks TLS', () => {
  it('comes up by the CA in its credentials', async () => {
    nats = await startTestNats({ users: true, tls: true, agents: ['n1'] });
    expect(await first(loadCredentials(credentialsFile(nats.dir, 'agent=n1')))).toBe('up');
  });

  it('says in one line why it does not come up without it', async () => {
    nats = await startTestNats({ users: true, tls: true, agents: ['n1'] });
    const { ca: _ca, ...credentials } = loadCredentials(credentialsFile(nats.dir, 'agent=n1'));
    expect(await first(credentials)).toEqual({
      network: 'management',
      reason: expect.stringMatching(
        /^nats:\/\/127\.0\.0\.1:\d+: it asks for TLS, and the credentials hold no CA: [^\n]*$/,
      ),
    });
  });
});

import { setImmediate } from 'node:timers/promises';
import { connectBus, readCredentials, silentLog } from '#bus';
import { MusterError } from '#contracts';

/**
 * A program that speaks NATS and nothing of ours, as the user of these credentials: publishes a text as it is, or asks
 * with it and prints the answer. FORBIDDEN where the server does not let that user. Run where the server can be reached.
 */
const [servers, credentials, verb, subject, text] = process.argv.slice(2);
if (servers === undefined || credentials === undefined || subject === undefined)
  throw new MusterError('BAD_REQUEST', 'usage: nats-tool SERVERS CREDENTIALS publish|request SUBJECT TEXT');

const user = readCredentials(credentials);
let refused: Error | undefined;
const log = {
  ...silentLog,
  warn: (facts: object) => {
    if ('err' in facts && facts.err instanceof Error) refused = facts.err;
  },
};
const bus = await connectBus({ name: user.user, servers: servers.split(','), credentials: user, log });
try {
  if (verb === 'request') {
    const answer = await bus.wire.request(subject, text ?? '', { timeoutMs: 5_000 });
    process.stdout.write(`${answer}\n`);
  } else {
    bus.wire.publish(subject, text ?? '');
    await bus.flushed();
    // A refusal comes before the answer to the flush; it reaches the log above in the same turn.
    await setImmediate();
  }
} catch (e) {
  refused ??= e as Error;
} finally {
  await bus.close();
}
if (refused !== undefined) {
  process.stderr.write(`${refused.message}\n`);
  process.exitCode = 1;
}

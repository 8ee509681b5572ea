import { connectBus, readCredentials } from '#bus';
import { MusterError } from '#contracts';

/**
 * A program of the operator that speaks NATS and nothing of ours, as user `tools`: publishes a text as it is, or asks
 * with it and prints the answer. Run by {@link natsTool} where the server can be reached.
 */
const [servers, credentials, verb, subject, text] = process.argv.slice(2);
if (servers === undefined || credentials === undefined || subject === undefined)
  throw new MusterError('BAD_REQUEST', 'usage: nats-tool SERVERS CREDENTIALS publish|request SUBJECT TEXT');

const bus = await connectBus({
  name: 'tools',
  servers: servers.split(','),
  credentials: readCredentials(credentials),
});
try {
  if (verb === 'request') {
    const answer = await bus.nc.request(subject, text ?? '', { timeout: 5_000 });
    process.stdout.write(`${answer.string()}\n`);
  } else {
    bus.nc.publish(subject, text ?? '');
    await bus.nc.flush();
  }
} finally {
  await bus.close();
}

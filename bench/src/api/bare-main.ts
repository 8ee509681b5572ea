import fastify from 'fastify';
import { connectBus, readCredentials } from '#bus';
import { connectionOf } from '#bus/testing/connection-of.js';
import type { BareOptions } from './bare-path.js';

/** As large as a node. */
const FILLER = 'x'.repeat(600);

const { role, nats, credentials, subject } = JSON.parse(process.argv[2] ?? '{}') as BareOptions;

const bus = await connectBus({
  name: `bench-bare-${role}`,
  servers: [nats],
  credentials: readCredentials(credentials),
});
const connection = connectionOf(bus);
let url = '';
if (role === 'service') {
  connection.subscribe(subject, {
    callback: (_e, msg) => {
      const { name } = msg.json<{ name: string }>();
      msg.respond(JSON.stringify({ name, filler: FILLER }));
    },
  });
  await connection.flush();
} else {
  const app = fastify();
  app.get<{ Params: { name: string } }>('/v1/nodes/:name', async (request) => {
    const question = JSON.stringify({ name: request.params.name });
    return (await connection.request(subject, question, { timeout: 5_000 })).json();
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
}
process.on('disconnect', () => process.exit(0));
process.send?.(url);

import { createServer, connect } from 'node:net';

/**
 * From the operator's 127.0.0.1:PORT to the gateway, whose TCP port is in a namespace of the lab but whose unix socket is
 * not. `node forwarder.js PORT SOCKET`
 */
const [port, socket] = process.argv.slice(2);

createServer((client) => {
  const gateway = connect(socket!);
  // A gateway that is not there, or a client that went away, ends this one connection: both sides see it closed.
  client.on('error', () => gateway.destroy());
  gateway.on('error', () => client.resetAndDestroy());
  client.pipe(gateway).pipe(client);
})
  .on('error', (e) => {
    process.stderr.write(`forwarder: ${e.message}\n`);
    process.exitCode = 1;
  })
  .listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'));

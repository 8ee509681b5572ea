import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atPort, MusterError } from '#contracts';
import type { ServiceMetrics } from './service-metrics.js';

export interface MetricsServer {
  /** As it listens: the port is the real one where 0 was asked for. */
  address: string;
  close(): Promise<void>;
}

/**
 * `GET /metrics`, and nothing else, for whoever reaches the address: it asks for no token, and tells no node's name.
 * @param listen `host:port`
 * @throws MusterError CONFIG_INVALID where it cannot listen there: one line that says why
 */
export async function serveMetrics(listen: string, metrics: ServiceMetrics): Promise<MetricsServer> {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(listen) ?? [];
  const server = createServer((request, response) => {
    const asked = request.url?.split('?')[0];
    if (asked !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD'))
      return void response.writeHead(404).end();
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new MusterError('CONFIG_INVALID', `metrics.listen (MUSTER_METRICS) ${listen}: ${why(cause)}`, {}, { cause }),
      ),
    );
    server.listen(Number(port), host, resolve);
  });
  // Whoever scrapes shall not keep a process that was told to stop.
  server.unref();
  metrics.collect();
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    address: atPort(address, bound),
    close: () =>
      new Promise((resolve) => {
        metrics.stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function why({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program listens there: give each service a port of its own';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'this machine has no such address';
  if (code === 'EACCES') return 'this user may not listen there: take a port from 1024 on';
  return message;
}

import { hostname } from 'node:os';
import { isLoopback } from '#contracts';
import type { RunningService, ServiceContext } from '#service';
import { CertificateFiles } from './http/certificate-files.js';
import type { CertificatePair } from './http/certificate-pair.js';
import { ConnectionLimit } from './http/connection-limit.js';
import { createHttpApplication } from './http/http-application.js';
import { type ListenAddress, listenText, parseListen } from './http/listen-address.js';
import { Listeners } from './http/listeners.js';

export interface RunningGateway extends RunningService {
  /** As bound: with the port that was given where 0 was asked for. */
  addresses: ListenAddress[];
  /** What the router serves: `GET /v1/nodes/:name`. */
  routes: readonly string[];
}

/** Inventory's answer to what the gateway says of its certificate, ms: nothing waits for it. */
const JUDGED_MS = 2_000;

/** The gateway with every configured address open. @throws MusterError CONFIG_INVALID, with nothing left open. */
export async function startGateway(context: ServiceContext): Promise<RunningGateway> {
  const { bus, config, log, clock } = context;
  const { listen, tokens, trustProxy, tls } = config.http;
  const addresses = parseListen(listen, tokens !== undefined);
  const application = await createHttpApplication(context);
  let certificate: Awaited<ReturnType<typeof CertificateFiles.open>> | undefined;
  try {
    const onChange = (pair: CertificatePair): void => listeners.show(pair);
    const onJudged = async (why: string | undefined): Promise<void> => {
      const host = config.replicas > 1 ? (config.host.name ?? hostname()) : undefined;
      const judged = { owner: 'http' as const, ...(host !== undefined && { host }), ...(why !== undefined && { why }) };
      await bus.call('inventory.records.certificate', judged, { timeoutMs: JUDGED_MS });
    };
    certificate = tls && (await CertificateFiles.open(tls, { log, clock, onChange, onJudged }));
  } catch (error) {
    await application.close();
    throw error;
  }
  const listeners = new Listeners((req, res, unix) => application.handle(req, res, unix), {
    log,
    now: () => clock.monotonicMs(),
    limit: new ConnectionLimit(undefined, (source) => isLoopback(source) || trustProxy !== undefined),
    ...(certificate && { tls: certificate.pair }),
  });
  const close = async (): Promise<void> => {
    await certificate?.files.close();
    await listeners.close();
    await application.close();
  };
  const bound: ListenAddress[] = [];
  try {
    for (const address of addresses) {
      const open = await listeners.open(address);
      bound.push(open);
      log.info({ listen: listenText(open), tls: certificate !== undefined && open.kind === 'tcp' }, 'HTTP is open');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close, addresses: bound, routes: application.routes };
}

import type { RunningService, ServiceContext } from '#service';
import { createHttpApplication } from './http/http-application.js';
import { listenText, parseListen } from './http/listen-address.js';
import { Listeners } from './http/listeners.js';

/** The gateway with every configured address open. @throws MusterError CONFIG_INVALID, with nothing left open. */
export async function startGateway(context: ServiceContext): Promise<RunningService> {
  const { listen, tokens } = context.config.http;
  const addresses = parseListen(listen, tokens !== undefined);
  const application = await createHttpApplication(context);
  const listeners = new Listeners((req, res, unix) => application.handle(req, res, unix));
  const close = async (): Promise<void> => {
    await listeners.close();
    await application.close();
  };
  try {
    for (const address of addresses) {
      const bound = await listeners.open(address);
      context.log.info({ listen: listenText(bound) }, 'HTTP is open');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

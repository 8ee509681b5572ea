import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Bus } from '#bus';
import { buildConfig, ServiceContext } from '#service';
import { startGateway } from '../../../gateway/src/gateway.js';

/** A gateway that a spec has started beside the services that it plays or runs. */
export interface GatewayBeside {
  /** Without a slash at its end. */
  url: string;
  close(): Promise<void>;
}

/**
 * On a free port of loopback, silent, with a data folder of its own that goes with it.
 *
 * @param bus its connection; it stays open when the gateway is closed
 * @param http more of its configuration. @default none
 */
export async function startGatewayBeside(bus: Bus, http: { tokens?: string } = {}): Promise<GatewayBeside> {
  const dataDir = mkdtempSync(join(tmpdir(), 'muster-gateway-'));
  const config = buildConfig(
    { instance: 'gateway-1', dataDir, http: { listen: '127.0.0.1:0', ...http } },
    undefined,
    'spec',
  );
  const gateway = await startGateway(new ServiceContext(config, bus, pino({ level: 'silent' }), 'gateway'));
  const [address] = gateway.addresses;
  return {
    url: address?.kind === 'tcp' ? `http://127.0.0.1:${address.port}` : '',
    close: async () => {
      await gateway.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

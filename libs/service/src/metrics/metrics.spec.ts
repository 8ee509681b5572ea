import { afterEach, describe, expect, it } from 'vitest';
import { serveMetrics, type MetricsServer } from './metrics-server.js';
import { ServiceMetrics } from './service-metrics.js';

const bus = { connected: true, contended: new Map([['fencer', () => true]]) };
let open: MetricsServer[] = [];
const serve = async (metrics: ServiceMetrics, listen = '127.0.0.1:0'): Promise<MetricsServer> => {
  const server = await serveMetrics(listen, metrics);
  open.push(server);
  return server;
};
const scrape = async ({ address }: MetricsServer): Promise<string> => (await fetch(`http://${address}/metrics`)).text();

describe('the metrics of a service', () => {
  afterEach(async () => {
    await Promise.all(open.map((server) => server.close()));
    open = [];
  });

  it('are its connection, its lease, its delay, and what it does', async () => {
    const metrics = new ServiceMetrics(bus, 'fencer');
    const server = await serve(metrics);
    metrics.power('off', true, 1500);
    metrics.power('status', false, 6000);
    const text = await scrape(server);
    for (const line of [
      'muster_bus_connected 1',
      'muster_lease_held{name="fencer"} 1',
      'muster_bmc_seconds_count{op="off",result="ok"} 1',
      'muster_bmc_seconds_sum{op="status",result="failed"} 6',
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).toMatch(/^muster_loop_delay_seconds \d/m);
    expect(text).toMatch(/^muster_build_info\{service="fencer",version="\d/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
    expect(text).not.toContain('muster_verdicts_total');
  });

  it('have of a detector every verdict from zero on, and whether it sees', async () => {
    const metrics = new ServiceMetrics({ ...bus, connected: false }, 'detector');
    metrics.verdict('DOWN');
    metrics.sight({ sighted: false, members: 5, reporters: 2 });
    const text = await metrics.text();
    for (const line of [
      'muster_verdicts_total{verdict="DOWN"} 1',
      'muster_verdicts_total{verdict="UP"} 0',
      'muster_detector_sighted 0',
      'muster_detector_reporters 2',
      'muster_bus_connected 0',
    ])
      expect(text).toContain(`${line}\n`);
  });

  it('name a counter _total, and nothing else', async () => {
    for (const service of ['detector', 'inventory', 'provisioner', 'fencer'] as const) {
      const text = await scrape(await serve(new ServiceMetrics(bus, service)));
      const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
      expect(types.length).toBeGreaterThan(10);
      for (const [, name, type] of types) expect([name, name?.endsWith('_total')]).toEqual([name, type === 'counter']);
    }
  });

  it('are all that is served there', async () => {
    const { address } = await serve(new ServiceMetrics(bus, 'fencer'));
    expect((await fetch(`http://${address}/`)).status).toBe(404);
    expect((await fetch(`http://${address}/metrics`, { method: 'POST' })).status).toBe(404);
  });

  it('refuse an address that is taken, or that this machine has not, in one line that names it', async () => {
    const { address } = await serve(new ServiceMetrics(bus, 'fencer'));
    await expect(serve(new ServiceMetrics(bus, 'detector'), address)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `metrics.listen (MUSTER_METRICS) ${address}: another program listens there: give each service a port of its own`,
    });
    await expect(serve(new ServiceMetrics(bus, 'detector'), '192.0.2.1:0')).rejects.toMatchObject({
      message: expect.stringContaining('no such address'),
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOf } from '#bus/testing/connection-of.js';
import { Streams, type IncidentRecord, type PublicEvent } from '#contracts';
import type { FencingReport } from '#contracts/incident/fencing-report.js';
import { execute } from '../../cli/src/execute.js';
import { fakeIo } from '../../cli/src/testing/muster.js';
import { ServedFleet } from '../../inventory/src/testing/served-fleet.js';
import { until } from '../../inventory/src/testing/until.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

/** `muster` at a running gateway, beside a running inventory on a real server; the spec plays agents and detector. */
describe('what mode observe would have done', () => {
  let served: ServedFleet;
  let gateway: GatewayBeside;

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4', 'n-5']);
    gateway = await startGatewayBeside(served.fleet.bus);
    // Something was kept before the mode was set.
    await muster('node', 'cordon', 'n-5', '--reason', 'new disk');
    await muster('fencing', 'set', 'observe');
  });
  afterAll(async () => {
    await gateway?.close();
    await served?.stop();
  });

  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${gateway.url}/v1${path}`);
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const muster = async (...args: string[]): Promise<string> => {
    const { io, outcome } = fakeIo(args, { env: { MUSTER_URL: gateway.url } });
    await execute(io);
    if (outcome.stderr !== '') throw new Error(`muster ${args.join(' ')}: ${outcome.stderr}`);
    return outcome.stdout;
  };
  const report = (): Promise<FencingReport> => get('/fencing/report?days=30');
  const reported = (): Promise<string> => muster('fencing', 'report', '--days', '30');
  /** Below `fencing` in `muster status`. */
  const observed = async (): Promise<string | undefined> =>
    (await muster('status')).split('\n').find((line) => line.startsWith('  observe '));
  const events = async (kind: string): Promise<PublicEvent[]> =>
    (await get<{ items: PublicEvent[] }>(`/events?kind=${kind}`)).items;
  const incident = (): Promise<IncidentRecord> => get('/incidents/n-1');
  /** As when they are too old to be kept, or too many. @param seq of the first event that is still kept */
  const loseThoseBefore = async (seq: number): Promise<void> => {
    const purge = `$JS.API.STREAM.PURGE.${Streams.events.name}`;
    await connectionOf(served.fleet.bus).request(purge, JSON.stringify({ seq }));
  };
  const iso = (at: number | undefined): string => new Date(at ?? Number.NaN).toISOString();

  it('is nothing while nobody is called dead', async () => {
    const [set] = await events('settings');
    expect(set?.data).toMatchObject({ changed: ['fencing.mode'] });
    const found = await report();
    expect(found).toMatchObject({ mode: 'observe', wouldHaveFenced: [] });
    expect(found.observing).toEqual({ since: set?.at, wouldHaveFenced: 0, wouldHaveStopped: 0 });
    expect(await observed()).toMatch(
      /^ {2}observe {2}for [\d.]+ s: would have fenced 0 \(muster fencing report --days 30\)$/,
    );
  });

  it('is one node, by name, once it is called dead: in its incident, in the report and in the status', async () => {
    await served.fleet.die('n-1');
    const found = await until(
      async () => {
        const now = await report();
        return now.wouldHaveFenced.length > 0 && now;
      },
      'somebody would have been fenced',
      { timeoutMs: 10_000 },
    );
    const i = await incident();
    expect(i).toMatchObject({ node: 'n-1', phase: 'suppressed', gate: 'OBSERVE', commands: [] });
    expect(i.steps.at(-1)?.detail).toBe('OBSERVE: The mode is observe: decide, but write to no power device.');
    const [line, ...others] = found.wouldHaveFenced;
    expect(line).toMatchObject({ node: 'n-1', incident: i.id });
    expect(others).toEqual([]);
    expect(found.observing).toMatchObject({ wouldHaveFenced: 1, wouldHaveStopped: 0 });
    const lines = await reported();
    expect(lines).toContain(`mode: observe since ${iso(found.observing?.since)}\n`);
    expect(lines).toContain(`n-1: decision: would have fenced\nn-1: gate: OBSERVE\nn-1: began: ${iso(line?.at)}\n`);
    expect(await observed()).toMatch(/ for [\d.]+ s: would have fenced 1 \(/);
  });

  it('is still told when the node is heard again and its incident is over', async () => {
    await served.fleet.revive('n-1');
    await until(async () => (await incident()).phase === 'cancelled', 'the incident over');
    await until(async () => (await events('incident')).some((e) => isOver(e)), 'its end is told');
    expect((await report()).wouldHaveFenced.map((l) => l.node)).toEqual(['n-1']);
    expect(await observed()).toContain('would have fenced 1 ');
  });

  it('reaches no farther back than the events that are kept, and says so', async () => {
    const told = await events('incident');
    const first = told.at(-1);
    const last = told[0];
    await loseThoseBefore(first?.seq ?? Number.NaN);
    const since = await report();
    expect(since.wouldHaveFenced).toHaveLength(1);
    expect(since.keptSince).toBeGreaterThanOrEqual(first?.at ?? Number.NaN);
    expect(since.observing).toEqual({ since: since.keptSince, atLeast: true, wouldHaveFenced: 1, wouldHaveStopped: 0 });
    const lines = await reported();
    expect(lines).toContain(`mode: observe since ${iso(since.keptSince)} or before\n`);
    expect(lines).toContain(`known since: ${iso(since.keptSince)}: nothing from before is kept\n`);
    expect(await observed()).toMatch(/ for at least [\d.]+ s: would have fenced 1 \(/);

    await loseThoseBefore((last?.seq ?? Number.NaN) + 1);
    expect(await report()).toMatchObject({ wouldHaveFenced: [], observing: { atLeast: true, wouldHaveFenced: 0 } });
    expect(await observed()).toMatch(/ for at least [\d.]+ s: would have fenced 0 \(/);
  });
});

const isOver = ({ data }: PublicEvent): boolean => (data as { phase?: string }).phase === 'cancelled';

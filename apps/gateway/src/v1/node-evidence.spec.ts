import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { defaultSettings, MusterError, type NodeEvidence, type Verdict } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { node } from '../testing/records.js';

// Real processes on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const HOUR = 3_600_000;
/** When the verdicts were stored; each was given up to two seconds before. */
let now = 0;

const verdict = (name: string, seq: number, kind: Verdict['verdict'], o: Partial<Verdict> = {}): Verdict => ({
  node: name,
  verdict: kind,
  networks: [],
  epoch: 3,
  seq,
  at: now - 2_000 + seq * 100,
  reason: `said ${seq}`,
  evidence: {
    observers: [
      { observer: 'b-2', network: 'management', misses: seq, rttUs: 300, reportAgeMs: 100, stance: 'accuses' },
      { observer: 'b-2', network: 'backend', misses: 0, rttUs: 200, reportAgeMs: 100, stance: 'accuses' },
    ],
    assigned: 2,
    accusers: 1,
    members: 3,
    sightedReporters: 2,
    sighted: true,
    wordless: [{ observer: 'c-3', why: 'never-heard' }],
  },
  ...o,
});

describe('/v1/nodes/{name}/evidence', () => {
  let sut: GatewayUnderTest;
  let answers: Verdict | undefined;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    now = Date.now();
    for (const [i, kind] of (['UP', 'SUSPECT', 'DOWN', 'DOWN'] as const).entries()) {
      await sut.bus.publishVerdict(verdict('a-1', i + 1, kind));
      await sut.bus.publishVerdict(verdict('b.x-2', i + 11, 'UP'));
    }
    sut.answer('inventory.nodes.get', ({ name }) => {
      if (name === 'gone-1') throw new MusterError('NODE_UNKNOWN', 'there is no node gone-1');
      const kept = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 5 };
      return node('x', '1', { name, enrolled: name !== 'plain-1', ...(name === 'kept-1' && { verdict: kept }) });
    });
    sut.answer('inventory.nodes.verdict', () => (answers === undefined ? {} : { verdict: answers }));
    sut.answer('inventory.settings.get', () => ({ ...defaultSettings('spec'), revision: 1 }));
  });
  afterAll(() => sut.stop());

  const ask = async (query: string, name = 'a-1'): Promise<NodeEvidence> =>
    (await (await sut.get(`/v1/nodes/${name}/evidence${query}`)).json()) as NodeEvidence;
  const atOf = (seq: number): number => verdict('a-1', seq, 'UP').at;

  it('is that of now where the detector answers, and since when that verdict stands', async () => {
    answers = verdict('a-1', 4, 'DOWN', { at: now, reason: 'still' });
    expect(await ask('')).toEqual({
      node: 'a-1',
      source: 'now',
      asOf: now,
      verdict: { node: 'a-1', verdict: 'DOWN', networks: [], epoch: 3, seq: 4, at: now, reason: 'still' },
      since: atOf(3),
      networks: ['management', 'backend'],
      observers: [
        {
          observer: 'b-2',
          stance: 'accuses',
          reportAgeMs: 100,
          networks: {
            management: { health: 'missing', misses: 4, rttUs: 300 },
            backend: { health: 'heard', misses: 0, rttUs: 200 },
          },
        },
        { observer: 'c-3', stance: 'absent', wordless: 'never-heard', networks: {} },
      ],
      counts: { assigned: 2, accusers: 1, members: 3, sightedReporters: 2, sighted: true },
    });
    answers = undefined;
  });

  it('is that of the last published verdict where no detector answers, and says so', async () => {
    expect(await ask('')).toMatchObject({ source: 'stored', asOf: atOf(4), since: atOf(3), verdict: { seq: 4 } });
  });

  it('is what the record knows where nothing is stored, and nothing where nothing was ever said', async () => {
    const none = { source: 'stored', networks: [], observers: [] };
    const kept = { node: 'kept-1', verdict: 'UP', networks: [], epoch: 1, seq: 1, at: 5, reason: '' };
    expect(await ask('', 'kept-1')).toEqual({ node: 'kept-1', ...none, asOf: 5, verdict: kept });
    expect(await ask('?at=5', 'kept-1')).toEqual({ node: 'kept-1', ...none, asOf: 5, verdict: kept });
    expect(await ask('?at=4', 'kept-1')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await ask('', 'plain-1')).toEqual({ node: 'plain-1', ...none, verdict: null });
  });

  it('asks no detector about a node without an agent', async () => {
    const before = sut.asked.filter((a) => a.verb === 'inventory.nodes.verdict').length;
    await ask('', 'plain-1');
    expect(sut.asked.filter((a) => a.verb === 'inventory.nodes.verdict')).toHaveLength(before);
  });

  it.each([
    [1, 0, 1],
    [2, -1, 1],
    [2, 0, 2],
    [2, 1, 2],
    [3, 99, 3],
    [4, 5_000, 4],
  ])('at the time of verdict %i and %i ms is verdict %i', async (seq, ms, is) => {
    expect(await ask(`?at=${atOf(seq) + ms}`)).toMatchObject({
      source: 'stored',
      asOf: atOf(is),
      verdict: { seq: is },
    });
  });

  it('takes ISO 8601 too, and refuses what is no time', async () => {
    expect(await ask(`?at=${new Date(atOf(2)).toISOString()}`)).toMatchObject({ verdict: { verdict: 'SUSPECT' } });
    const wrong = await sut.get('/v1/nodes/a-1/evidence?at=yesterday');
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: 'BAD_REQUEST' }]);
  });

  it('refuses a time that is yet to come, rather than show what was last seen as if it were of then', async () => {
    const early = await sut.get(`/v1/nodes/a-1/evidence?at=${Date.now() + HOUR}`);
    expect([early.status, await early.json()]).toMatchObject([
      400,
      { code: 'BAD_REQUEST', detail: expect.stringContaining('is yet to come') },
    ]);
  });

  it('is not found before the first that is kept, and says what is', async () => {
    const early = await sut.get(`/v1/nodes/a-1/evidence?at=${atOf(1) - 1}`);
    expect([early.status, await early.json()]).toMatchObject([
      404,
      { code: 'NOT_FOUND', keptSince: expect.any(Number) },
    ]);
    const gone = await sut.get(`/v1/nodes/gone-1/evidence?at=${now}`);
    expect([gone.status, await gone.json()]).toMatchObject([404, { code: 'NODE_UNKNOWN' }]);
  });
});

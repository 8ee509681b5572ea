import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Verdict, PublicEvent } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';

const verdict = (name: string, seq: number, kind: Verdict['verdict']): Verdict => ({
  node: name,
  verdict: kind,
  networks: [],
  epoch: 3,
  seq,
  at: 1000 + seq,
  reason: 'said so',
  evidence: { observers: [], assigned: 2, accusers: 2, members: 3, sightedReporters: 2 },
});

/** Reads a `text/event-stream` event by event; closing it ends the request. */
async function* stream(url: string, headers: Record<string, string> = {}): AsyncGenerator<PublicEvent> {
  const end = new AbortController();
  const answer = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: end.signal });
  let text = '';
  try {
    for await (const more of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += more;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block.split('\n').find((line) => line.startsWith('data: '));
        if (data !== undefined) yield JSON.parse(data.slice(6)) as PublicEvent;
      }
    }
  } finally {
    end.abort();
  }
}

async function take(from: AsyncGenerator<PublicEvent>, count: number): Promise<PublicEvent[]> {
  const events: PublicEvent[] = [];
  for await (const event of from) if (events.push(event) === count) break;
  return events;
}

const titles = (events: PublicEvent[]): string[] => events.map((e) => `${e.kind} ${e.key}`);

describe('/v1/events', () => {
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    await sut.bus.emit('in-service', 'a-1', { node: 'a-1' });
    await sut.bus.publishVerdict(verdict('a-1', 1, 'SUSPECT'));
    await sut.bus.emit('disappeared', 'fleet', { nodes: ['a-1', 'b.x-2'] });
    await sut.bus.publishVerdict(verdict('a-1', 2, 'DOWN'));
    await sut.bus.emit('in-service', 'b.x-2', { node: 'b.x-2' });
  });
  afterAll(() => sut.stop());

  it('lists the newest first, of a kind, of a node', async () => {
    const list = async (query: string): Promise<string[]> =>
      titles(((await (await sut.get(`/v1/events${query}`)).json()) as { items: PublicEvent[] }).items);
    expect(await list('')).toEqual([
      'in-service b.x-2',
      'verdict a-1',
      'disappeared fleet',
      'verdict a-1',
      'in-service a-1',
    ]);
    expect(await list('?limit=2')).toEqual(['in-service b.x-2', 'verdict a-1']);
    expect(await list('?kind=verdict,disappeared')).toEqual(['verdict a-1', 'disappeared fleet', 'verdict a-1']);
    expect(await list('?kind=in-service&node=b.x-2')).toEqual(['in-service b.x-2']);
    expect(await list('?kind=dead-letter')).toEqual([]);
    for (const since of ['', '&since=0']) {
      expect(await list(`?node=b.x-2${since}`)).toEqual(['in-service b.x-2', 'disappeared fleet']);
      expect(await list(`?node=a-1&limit=2${since}`)).toEqual(['verdict a-1', 'disappeared fleet']);
      expect(await list(`?kind=disappeared,verdict&node=b.x-2${since}`)).toEqual(['disappeared fleet']);
    }
    expect((await sut.get('/v1/events?since=yesterday')).status).toBe(400);
  });

  it('streams from now on, and resumes behind the last event that was read, without a hole', async () => {
    const all = await take(stream(`${sut.url}/v1/events`, { 'last-event-id': '0' }), 3);
    expect(titles(all)).toEqual(['in-service a-1', 'verdict a-1', 'disappeared fleet']);
    const rest = stream(`${sut.url}/v1/events`, { 'last-event-id': String(all.at(-1)?.seq) });
    expect(titles(await take(rest, 2))).toEqual(['verdict a-1', 'in-service b.x-2']);
  });

  it('streams what is about a node, also where a list names it', async () => {
    const about = stream(`${sut.url}/v1/events?since=0&node=b.x-2`);
    expect(titles(await take(about, 2))).toEqual(['disappeared fleet', 'in-service b.x-2']);
  });

  it('goes on after the bus was down', async () => {
    const events = stream(`${sut.url}/v1/events?since=0&kind=rebooted,in-service`);
    expect((await events.next()).value).toMatchObject({ key: 'a-1' });
    expect((await events.next()).value).toMatchObject({ key: 'b.x-2' });
    const next = events.next();
    const back = new Promise<void>((resolve) => {
      sut.bus.onStatus((s) => s === 'connected' && resolve());
    });
    await sut.nats.restart();
    await back;
    await sut.bus.emit('rebooted', 'a-1', { node: 'a-1', bootId: 'x' });
    expect((await next).value).toMatchObject({ kind: 'rebooted', key: 'a-1' });
    await events.return(undefined);
  });

  it('tells the history of a node, also what lists say of it, page by page', async () => {
    const history = async (query: string): Promise<{ items: PublicEvent[]; next?: string }> =>
      (await (await sut.get(`/v1/nodes/b.x-2/history${query}`)).json()) as { items: PublicEvent[]; next?: string };
    expect(titles((await history('')).items)).toEqual(['in-service b.x-2', 'disappeared fleet']);
    const first = await history('?limit=1');
    expect(titles(first.items)).toEqual(['in-service b.x-2']);
    expect(titles((await history(`?limit=1&cursor=${first.next}`)).items)).toEqual(['disappeared fleet']);
    expect((await sut.get('/v1/nodes/b.x-2/history?cursor=x')).status).toBe(400);
  });
});

import { describe, expect, it } from 'vitest';
import { peerId } from '#contracts/wire/datagram.js';
import type { PollAnswer, PollRequest } from '#contracts/wire/poll.js';
import { pollNumbers, PollRound, type PollProbe } from './poll-round.js';
import { Polls } from './polls.js';

const request = (...names: string[]): PollRequest => ({
  targets: names.map((name, i) => ({
    name,
    networks: { backend: `10.2.0.${i + 1}`, management: `10.1.0.${i + 1}`, storage: `10.3.0.${i + 1}` },
  })),
  port: 7946,
});
const NETWORKS = ['backend', 'management'];
const anyone = (): boolean => true;

/** Runs a round by steps of 20 ms; `answers` says which probes come back, at once. */
const play = (
  r: PollRound,
  answers: (p: PollProbe, now: number) => boolean,
  fails: (p: PollProbe) => boolean = () => false,
): { took: number; probes: { at: number; target: string; network: string }[]; answer: PollAnswer['targets'] } => {
  const probes: { at: number; target: string; network: string }[] = [];
  let now = 0;
  for (; ; now += 20) {
    for (const p of r.due(now)) {
      const nonce = `nonce-${probes.length}`;
      probes.push({ at: now, target: p.target, network: p.network });
      r.sent(p, nonce);
      if (fails(p)) r.unsent(nonce);
      else if (answers(p, now)) expect(r.echo(p.network, nonce, (t) => t === p.target)).toBe(true);
    }
    if (r.done(now)) return { took: now, probes, answer: r.answer() };
  }
};

describe('a poll on request', () => {
  it('is over as soon as everybody has answered on every network that is shared', () => {
    const { took, probes, answer } = play(new PollRound(request('b', 'c'), 'a', NETWORKS, 0), anyone);
    expect(took).toBeLessThanOrEqual(20);
    expect(probes).toHaveLength(4);
    const both = { backend: { sent: 1, answered: 1 }, management: { sent: 1, answered: 1 } };
    expect(answer).toEqual([
      { name: 'b', networks: both },
      { name: 'c', networks: both },
    ]);
  });

  it('ends within the limit with three spread probes for each link that is silent', () => {
    const { took, probes, answer } = play(
      new PollRound(request('b', 'c'), 'a', NETWORKS, 0),
      (p) => p.target === 'c' || p.network === 'backend',
    );
    expect(took).toBeGreaterThanOrEqual(pollNumbers.limit);
    expect(took).toBeLessThan(pollNumbers.limit + 20);
    const silent = probes.filter((p) => p.target === 'b' && p.network === 'management').map((p) => p.at);
    expect(silent).toEqual([0, 260, 520]);
    expect(answer[0]).toEqual({
      name: 'b',
      networks: { backend: { sent: 1, answered: 1 }, management: { sent: 3, answered: 0 } },
    });
  });

  it('spreads what it sends to many, and gives the last probe of each time to be answered', () => {
    const names = Array.from({ length: 64 }, (_, i) => `n-${i}`);
    const { probes, took } = play(new PollRound(request(...names), 'a', NETWORKS, 0), () => false);
    expect(probes).toHaveLength(64 * 2 * 3);
    const burst = Math.max(...probes.map((p) => probes.filter((q) => q.at === p.at).length));
    expect(burst).toBeLessThanOrEqual(2 * Math.ceil(64 / (pollNumbers.spread / 20)));
    expect(took - Math.max(...probes.map((p) => p.at))).toBeGreaterThanOrEqual(200);
  });

  it('says nothing of a network that is not shared, that could not be used, nor of ourselves', () => {
    const r = new PollRound(request('a', 'b', 'c'), 'a', ['backend', 'other'], 0);
    const { answer } = play(r, anyone, (p) => p.target === 'c');
    expect(answer).toEqual([
      { name: 'a', networks: {} },
      { name: 'b', networks: { backend: { sent: 1, answered: 1 } } },
      { name: 'c', networks: {} },
    ]);
  });

  it('has no more to ask when nobody is asked for', () => {
    expect(play(new PollRound(request(), 'a', NETWORKS, 0), anyone)).toMatchObject({ took: 0, answer: [] });
  });

  it('takes an echo only from whom it asked, on the network that it asked over, and once', () => {
    const r = new PollRound(request('b'), 'a', ['management', 'backend'], 0);
    const [first] = r.due(0);
    r.sent(first!, 'nonce');
    expect(r.echo('backend', 'nonce', anyone)).toBe(false);
    expect(r.echo('management', 'other', anyone)).toBe(false);
    expect(r.echo('management', 'nonce', (t) => t === 'c')).toBe(false);
    expect(r.echo('management', 'nonce', (t) => t === 'b')).toBe(true);
    expect(r.echo('management', 'nonce', (t) => t === 'b')).toBe(false);
  });
});

describe('what the monitor asks', () => {
  interface Sent {
    nonce: string;
    probe: PollProbe;
    fail: () => void;
  }
  const polls = (abstains = (): boolean => false): { sut: Polls; sent: Sent[] } => {
    const sent: Sent[] = [];
    const sut = new Polls({
      node: 'a',
      epoch: 9,
      networks: NETWORKS,
      question: () => ({ bytes: Buffer.alloc(64), nonce: `nonce-${sent.length}` }),
      send: (probe, _port, _bytes, fail) => sent.push({ nonce: `nonce-${sent.length}`, probe, fail }),
      abstains,
    });
    return { sut, sent };
  };
  const echoAll = (sut: Polls, sent: Sent[]): void => {
    for (const { nonce, probe } of sent) sut.echo(peerId(probe.target), probe.network, nonce, 10);
  };

  it('is answered in the name of this process', async () => {
    const { sut, sent } = polls();
    const answered = sut.begin(request('b'), 'one', 0);
    echoAll(sut, sent);
    expect(await answered).toMatchObject({ node: 'a', epoch: 9, abstain: false, targets: [{ name: 'b' }] });
  });

  it('is not believed of another sender that knows the nonce', () => {
    const { sut, sent } = polls();
    void sut.begin(request('b'), 'one', 0);
    expect(sut.echo(peerId('c'), sent[0]!.probe.network, sent[0]!.nonce, 10)).toBe(false);
    expect(sut.echo(peerId('b'), sent[0]!.probe.network, sent[0]!.nonce, 10)).toBe(true);
  });

  it('shares one round among the copies of a request, and answers each', async () => {
    const { sut, sent } = polls();
    const both = [sut.begin(request('b'), 'same', 0), sut.begin(request('b'), 'same', 0)];
    expect(sent).toHaveLength(2);
    echoAll(sut, sent);
    const [one, two] = await Promise.all(both);
    expect(one).toEqual(two);
    void sut.begin(request('b'), 'same', 20);
    expect(sent).toHaveLength(4);
  });

  it('reports nobody down when the loop stood still meanwhile, or the agent abstained at the begin or at the end', async () => {
    const still = polls();
    const answered = still.sut.begin(request('b'), 'one', 0);
    still.sut.stoodStill();
    still.sut.step(2_000);
    expect(await answered).toMatchObject({ abstain: true });

    for (const when of [0, 900]) {
      let now = 0;
      const { sut } = polls(() => now === when);
      const said = sut.begin(request('b'), 'one', 0);
      now = 900;
      sut.step(900);
      expect(await said).toMatchObject({ abstain: true });
    }
  });

  it('counts no probe that did not leave, even when that is known at once', async () => {
    const sut = new Polls({
      node: 'a',
      epoch: 1,
      networks: NETWORKS,
      question: () => ({ bytes: Buffer.alloc(64), nonce: String(Math.random()) }),
      send: (_p, _port, _bytes, unsent) => unsent(),
      abstains: () => false,
    });
    const said = sut.begin(request('b'), 'one', 0);
    for (let now = 20; now < 900; now += 20) sut.step(now);
    expect(await said).toMatchObject({ abstain: false, targets: [{ name: 'b', networks: {} }] });
  });

  it('is not worked on without end: more than four at once are answered with an abstention', async () => {
    const { sut } = polls();
    for (let i = 0; i < 4; i++) void sut.begin(request('b'), `k${i}`, 0);
    expect(await sut.begin(request('b'), 'k5', 0)).toEqual({ node: 'a', epoch: 9, abstain: true, targets: [] });
  });
});

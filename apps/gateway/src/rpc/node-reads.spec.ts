import { describe, expect, it } from 'vitest';
import { MusterError, type RpcAnswer, type WireError } from '#contracts';
import { NodeReads } from './node-reads.js';
import type { RpcClient } from './rpc-client.js';

type Answer = RpcAnswer<'inventory.nodes.each'>;

interface Question {
  names: string[];
  answer(a: Answer): void;
  fail(e: unknown): void;
}

/** Turns of the event loop that end when they are told to, and questions to inventory that are answered by hand. */
function byHand() {
  const ends: (() => void)[] = [];
  const questions: Question[] = [];
  const singles: { name: string; answer(node: object): void; fail(e: unknown): void }[] = [];
  const rpc = {
    turnEnds: () => new Promise<void>((resolve) => ends.push(resolve)),
    readNow: (verb: string, { names, name }: { names: string[]; name: string }) =>
      verb === 'inventory.nodes.get'
        ? new Promise<object>((answer, fail) => singles.push({ name, answer, fail }))
        : new Promise<Answer>((answer, fail) => questions.push({ names, answer, fail })),
  };
  const endTurn = async (): Promise<void> => {
    ends.splice(0).forEach((end) => end());
    await settled();
  };
  return { sut: new NodeReads(rpc as unknown as RpcClient), ends, questions, singles, endTurn };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Of each a revision, or a refusal. */
function answerTo(names: readonly string[], of: (name: string) => number | WireError = () => 7): Answer {
  const found = names.map(of);
  const shown = names.filter((_name, i) => typeof found[i] === 'number');
  return { found, text: shown.map((name) => JSON.stringify({ name })).join('\n') };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n-${i}`);
const unknown = (name: string): WireError => new MusterError('NODE_UNKNOWN', `no node "${name}"`).toJSON();

describe('reads of single nodes', () => {
  it('of one turn are one question, in which no name stands twice, and each has its own node', async () => {
    const h = byHand();
    const reads = ['a-1', 'b-1', 'a-1'].map((name) => h.sut.text(name));
    expect([h.questions.length, h.ends.length]).toEqual([0, 1]);
    await h.endTurn();
    expect(h.questions.map((q) => q.names)).toEqual([['a-1', 'b-1']]);
    h.questions[0]?.answer(answerTo(['a-1', 'b-1'], (name) => (name === 'a-1' ? 7 : 8)));
    const nodes = await Promise.all(reads);
    expect(nodes.map((node) => [node.text, node.revision])).toEqual([
      ['{"name":"a-1"}', 7],
      ['{"name":"b-1"}', 8],
      ['{"name":"a-1"}', 7],
    ]);
  });

  it('are never answered by a question that was put before they came', async () => {
    const h = byHand();
    const first = h.sut.text('a-1');
    await h.endTurn();
    const second = h.sut.text('a-1');
    h.questions[0]?.answer(answerTo(['a-1'], () => 7));
    expect((await first).revision).toBe(7);
    await h.endTurn();
    expect(h.questions).toHaveLength(2);
    h.questions[1]?.answer(answerTo(['a-1'], () => 8));
    expect((await second).revision).toBe(8);
  });

  it('end each for itself where a node cannot be shown', async () => {
    const h = byHand();
    const reads = Promise.allSettled(['a-1', 'gone-1', 'b-1'].map((name) => h.sut.view(name)));
    await h.endTurn();
    h.questions[0]?.answer(answerTo(['a-1', 'gone-1', 'b-1'], (name) => (name === 'gone-1' ? unknown(name) : 7)));
    expect(await reads).toMatchObject([
      { value: { name: 'a-1' } },
      { reason: { code: 'NODE_UNKNOWN', message: 'no node "gone-1"' } },
      { value: { name: 'b-1' } },
    ]);
  });

  it('that one answer has no room for are asked for again', async () => {
    const h = byHand();
    const reads = Promise.all(names(3).map((name) => h.sut.text(name)));
    await h.endTurn();
    h.questions[0]?.answer(answerTo(['n-0', 'n-1']));
    await settled();
    expect(h.questions.map((q) => q.names)).toEqual([['n-0', 'n-1', 'n-2'], ['n-2']]);
    h.questions[1]?.answer(answerTo(['n-2']));
    expect((await reads).map((node) => node.text)).toEqual(names(3).map((name) => JSON.stringify({ name })));
  });

  it('that are more than fit into one question are several, and the failure of one is its own', async () => {
    const h = byHand();
    const reads = Promise.allSettled(names(250).map((name) => h.sut.text(name)));
    await h.endTurn();
    expect(h.questions.map((q) => q.names.length)).toEqual([100, 100, 50]);
    h.questions[0]?.answer(answerTo(names(100)));
    h.questions[1]?.fail(new MusterError('TIMEOUT', 'no answer in time'));
    h.questions[2]?.answer(answerTo(names(250).slice(200)));
    const outcomes = (await reads).map((r) => (r.status === 'fulfilled' ? 'node' : (r.reason as MusterError).code));
    expect([outcomes.slice(0, 100), outcomes.slice(100, 200), outcomes.slice(200)].map((o) => [...new Set(o)])).toEqual(
      [['node'], ['TIMEOUT'], ['node']],
    );
  });

  it('are put one by one to an inventory of an earlier version, which knows no question for many', async () => {
    const h = byHand();
    const reads = Promise.allSettled(['a-1', 'gone-1', 'b-1'].map((name) => h.sut.text(name)));
    await h.endTurn();
    h.questions[0]?.fail(new MusterError('NO_RESPONDER', 'nobody answers'));
    await settled();
    // The first shows whether anybody is there at all.
    expect(h.singles.map((q) => q.name)).toEqual(['a-1']);
    h.singles[0]?.answer({ name: 'a-1', revision: 7 });
    await settled();
    expect(h.singles.map((q) => q.name)).toEqual(['a-1', 'gone-1', 'b-1']);
    h.singles[1]?.fail(new MusterError('NODE_UNKNOWN', 'no node "gone-1"'));
    h.singles[2]?.answer({ name: 'b-1', revision: 8 });
    expect(await reads).toMatchObject([
      { value: { text: '{"name":"a-1","revision":7}', revision: 7 } },
      { reason: { code: 'NODE_UNKNOWN' } },
      { value: { text: '{"name":"b-1","revision":8}', revision: 8 } },
    ]);
  });

  it('fail at once where no inventory is there at all', async () => {
    const h = byHand();
    const reads = Promise.allSettled(['a-1', 'b-1'].map((name) => h.sut.text(name)));
    await h.endTurn();
    h.questions[0]?.fail(new MusterError('NO_RESPONDER', 'nobody answers'));
    await settled();
    h.singles[0]?.fail(new MusterError('NO_RESPONDER', 'nobody answers'));
    const failed = { reason: { code: 'NO_RESPONDER' } };
    expect(await reads).toMatchObject([failed, failed]);
    expect(h.singles).toHaveLength(1);
  });

  it.each([
    ['names no node', { found: [], text: '' }],
    ['shows fewer than it names', { found: [7, 8], text: '{"name":"a-1"}' }],
  ])('fail where inventory %s', async (_what, answer) => {
    const h = byHand();
    const reads = Promise.allSettled(['a-1', 'b-1'].map((name) => h.sut.text(name)));
    await h.endTurn();
    h.questions[0]?.answer(answer);
    expect((await reads)[1]).toMatchObject({ status: 'rejected', reason: { code: 'INTERNAL' } });
  });
});

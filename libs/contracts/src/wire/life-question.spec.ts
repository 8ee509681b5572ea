import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  LIFE_ANSWER_FRESH_MS,
  LIFE_WITHIN_MOST_MS,
  readLifeAnswer,
  readLifeQuestion,
  type LifeAnswer,
  type LifeQuestion,
} from './life-question.js';

const nonce = '0123456789abcdef0123456789abcdef';
const question: LifeQuestion = { nonce, target: 'n-1', sshPort: 22, withinMs: 2_000 };
const look = { address: 'fd00::1', ssh: 'silent', icmp: 'reply', port: 'cannot', agentPort: 'not-tried' } as const;
const answer: LifeAnswer = { node: 'n-2', nonce, target: 'n-1', ageMs: 3, networks: { management: look } };

describe('a question for life', () => {
  it('is read as it was asked, and nothing else of it', () => {
    expect(readLifeQuestion(JSON.stringify(question))).toEqual(question);
    expect(readLifeQuestion(JSON.stringify({ ...question, host: '10.0.0.9' }))).toEqual(question);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a list', [question]],
    ['without a nonce', { ...question, nonce: undefined }],
    ['with a nonce that is none', { ...question, nonce: `${nonce}0` }],
    ['for a name that is none', { ...question, target: 'a b' }],
    ['for an address', { ...question, target: '../x' }],
    ['with a port that is none', { ...question, sshPort: 65_536 }],
    ['with a port as a text', { ...question, sshPort: '22' }],
    ['without a deadline', { ...question, withinMs: 0 }],
    ['with one that is far away', { ...question, withinMs: LIFE_WITHIN_MOST_MS + 1 }],
    ['of any length', { ...question, more: 'x'.repeat(2_000) }],
  ])('is not read: %s', (_what, raw) => {
    expect(readLifeQuestion(JSON.stringify(raw))).toBeUndefined();
  });

  it('is not read where it is no JSON', () => {
    expect(readLifeQuestion('{')).toBeUndefined();
  });
});

describe('an answer', () => {
  const read = (x: unknown): LifeAnswer | undefined => readLifeAnswer(x, 'n-2', question);

  it('is read, also of one that could not look', () => {
    expect(read(answer)).toEqual(answer);
    const unable = { ...answer, networks: {}, unable: 'busy' };
    expect(read(unable)).toEqual(unable);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an error', { code: 'BAD_REQUEST', message: 'x' }],
    ['by another node', { ...answer, node: 'n-3' }],
    ['to another question', { ...answer, nonce: nonce.replaceAll('0', '1') }],
    ['of another node', { ...answer, target: 'n-4' }],
    ['from the past', { ...answer, ageMs: LIFE_ANSWER_FRESH_MS + 1 }],
    ['from the future', { ...answer, ageMs: -1 }],
    ['without networks', { ...answer, networks: undefined }],
    ['over a network that is none', { ...answer, networks: { 'a b': look } }],
    ['over five networks', { ...answer, networks: Object.fromEntries([1, 2, 3, 4, 5].map((i) => [`n${i}`, look])) }],
    ['without an address', { ...answer, networks: { management: { ...look, address: undefined } } }],
    ['with a sign of another channel', { ...answer, networks: { management: { ...look, icmp: 'banner' } } }],
    ['without one', { ...answer, networks: { management: { ...look, ssh: undefined } } }],
    ['with a reason that is none', { ...answer, unable: 'x' }],
  ])('is not read: %s', (_what, raw) => {
    expect(read(raw)).toBeUndefined();
  });

  it('is read or not, and never thrown over, whatever comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (x) => {
        expect(read(x)).toBeUndefined();
        expect(readLifeQuestion(JSON.stringify(x))).toBeUndefined();
      }),
    );
  });
});

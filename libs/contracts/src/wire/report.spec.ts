import { describe, expect, it } from 'vitest';
import { parseReport, type Report } from './report.js';

const good: Report = {
  v: 1,
  node: 'a',
  bootId: 'boot-1',
  epoch: 12,
  seq: 340,
  listVersion: 7,
  networks: ['backend'],
  peers: [['b', [[0, 412]]]],
  health: {
    abstain: false,
    sendErrors: { backend: 0 },
    loopGapMs: 20,
    warnings: ['duplicate: two machines speak as b'],
  },
  workloads: [
    { name: 'shop', generation: 3, starting: true },
    { name: 'db', generation: 0 },
  ],
};
const parsed = (over: object, health: object = {}): Report | undefined =>
  parseReport(JSON.stringify({ ...good, ...over, health: { ...good.health, ...health } }));

describe('a report from the wire', () => {
  it('is taken as it is where all of it is good', () => {
    expect(parsed({})).toEqual(good);
  });

  it.each([
    ['an empty name', [{ name: '', generation: 1 }]],
    ['a name of 300 characters', [{ name: 'x'.repeat(300), generation: 1 }]],
    ['a negative generation', [{ name: 'db', generation: -1 }]],
    ['a broken one among good ones', [...good.workloads!, { name: 'db' }]],
    ['no list', { name: 'db', generation: 1 }],
    ['too many', Array.from({ length: 10_001 }, (_, i) => ({ name: `w${i}`, generation: 1 }))],
  ])('keeps its votes beside workloads that are %s; what runs there is then unknown, never a part of it', (_, w) => {
    const r = parsed({ workloads: w });
    expect(r?.peers).toEqual(good.peers);
    expect(r).not.toHaveProperty('workloads');
    expect(r?.health.warnings).toEqual([
      ...good.health.warnings!,
      'report: cannot be read: what runs there, which counts as unknown',
    ]);
  });

  it('is read once for all who hear it, and anew where another came between', () => {
    const text = JSON.stringify(good);
    const read = parseReport(text);
    expect(parseReport(`${text} `.trim())).toBe(read);
    expect(parseReport(JSON.stringify({ ...good, seq: good.seq + 1 }))?.seq).toBe(good.seq + 1);
    expect(parseReport(text)).toEqual(read);
  });

  it('keeps its votes beside words and figures that are off, and all evidence among them', () => {
    const duplicate = good.health.warnings![0]!;
    const long = `workloads: ${'x'.repeat(5000)}`;
    expect(parsed({}, { warnings: [long, duplicate] })?.health.warnings).toEqual([
      `${long.slice(0, 1023)}…`,
      duplicate,
    ]);
    expect(parsed({}, { warnings: [duplicate, '', 7] })?.health.warnings).toEqual([
      duplicate,
      'report: cannot be read: a warning',
    ]);
    const r = parsed({}, { warnings: 'none', reason: 7, metrics: { rssBytes: -1 } });
    expect(r?.health).toEqual({
      ...good.health,
      warnings: ['report: cannot be read: its reason to abstain; its metrics; a warning'],
    });
  });

  it.each([
    ['a peer', { peers: [['b', [[-1, 412]]]] }, {}],
    ['a number', { seq: -1 }, {}],
    ['abstention', {}, { abstain: 'no' }],
    ['send errors', {}, { sendErrors: { backend: -1 } }],
    ['the farewell', { leaving: { kind: 'holiday', bootId: 'b' } }, {}],
  ])('is refused whole where what makes up its votes is off: %s', (_, over, health) => {
    expect(parsed(over, health)).toBeUndefined();
  });
});

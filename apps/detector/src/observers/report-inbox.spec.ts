import { beforeEach, describe, expect, it } from 'vitest';
import { Subjects, type Report } from '#contracts';
import { AgentBook, SAID_MS } from '../conditions/agent-book.js';
import { REFUSED_LOG_MS, ReportInbox } from './report-inbox.js';

const good: Report = {
  v: 1,
  node: 'web.1',
  bootId: 'b',
  epoch: 1,
  seq: 1,
  listVersion: 1,
  networks: ['backend'],
  peers: [],
  health: { abstain: false, sendErrors: {}, loopGapMs: 1 },
};
const subject = Subjects.report('web.1');
const watched = new Set(['web.1']);

describe('what comes in under the agents’ subjects', () => {
  let agents: AgentBook;
  let lines: object[];
  let sut: ReportInbox;
  beforeEach(() => {
    agents = new AgentBook();
    lines = [];
    sut = new ReportInbox(agents, { warn: (facts: object) => void lines.push(facts) });
  });
  const read = (text: string, now: number): Report | undefined => sut.read(text, subject, watched, now);
  const told = (now: number): string[] => agents.conditions(now).map((c) => `${c.code}=${c.subject}: ${c.message}`);

  it('is read once, whichever network it came over', () => {
    expect(read(JSON.stringify(good), 0)).toEqual(good);
    expect(read(JSON.stringify(good), 1)).toBeUndefined();
    expect([lines, told(1)]).toEqual([[], []]);
  });

  it('is told of, by its node, where it cannot be read, for as long as such come', () => {
    expect(read('{"v":2}', 0)).toBeUndefined();
    expect(told(0)).toEqual([
      'agent-health=web.1: web.1: its reports cannot be read, so that it has no vote: an agent of another version, or a broken one',
    ]);
    expect(told(SAID_MS)).toHaveLength(1);
    expect(told(SAID_MS + 1)).toEqual([]);
  });

  it('is logged once a minute and node where it cannot be read, with the name of the node', () => {
    for (let now = 0; now < 2 * REFUSED_LOG_MS; now += 500) read(`{"v":2,"seq":${now}}`, now);
    expect(lines).toEqual([
      { node: 'web.1', subject },
      { node: 'web.1', subject },
    ]);
  });

  it('is nobody’s word where it speaks as another node', () => {
    const other = JSON.stringify({ ...good, node: 'web2' });
    for (const now of [0, 5_000]) expect(read(other, now)).toBeUndefined();
    expect(told(5_000)).toEqual([expect.stringContaining('auth-failure=web.1: Reports come from web.1')]);
    expect(lines).toHaveLength(1);
  });

  it('says what was left out of it, and counts', () => {
    const r = read(JSON.stringify({ ...good, workloads: [{ name: '', generation: 1 }] }), 0);
    agents.hear(r as Report, 0);
    expect(told(0)).toEqual([
      'agent-health=web.1: web.1: report: cannot be read: what runs there, which counts as unknown',
    ]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { DetectionProfiles, defaultSettings, SETTINGS_KEY, type NodeRecord, type Report } from '#contracts';
import { FleetView, type Records } from '../fleet/fleet-view.js';
import { ReportBook } from '../observers/report-book.js';
import { VerdictLog } from '../verdicts/verdict-log.js';
import { AgentBook } from './agent-book.js';
import { LINK_HOLD_MS } from './broken-links.js';
import { ConditionBook } from './condition-book.js';
import { OUTDATED_HOLD_MS } from './outdated-keys.js';
import { SILENT_HOLD_MS } from './silent-agents.js';

const n = DetectionProfiles.lan;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const records = <T>(values: Record<string, T>): Records<T> => ({
  live: true,
  get: (key) => (key in values ? { value: values[key] as T } : undefined),
  entries: () => Object.entries(values).map(([key, value]) => ({ key, value, revision: 1 })),
  onChange: () => () => undefined,
});
const record = (name: string): NodeRecord =>
  ({
    name,
    networks: { backend: { address: '10.0.0.1' }, management: { address: '10.0.1.1' } },
    vars: {},
    enrolled: true,
  }) as unknown as NodeRecord;

/** The real book of reports, and verdicts as they are said. */
describe('what is beside the verdicts', () => {
  let reports: ReportBook;
  let agents: AgentBook;
  let log: VerdictLog;
  let book: ConditionBook;
  let seq = 0;

  beforeEach(() => {
    reports = new ReportBook();
    agents = new AgentBook();
    log = new VerdictLog();
    log.begin(1);
    const fleet = new FleetView(
      records(Object.fromEntries(NAMES.map((name) => [name, record(name)]))),
      records({ [SETTINGS_KEY]: defaultSettings('spec') }),
      'spec',
    );
    book = new ConditionBook(fleet, reports, log, agents, { conditions: () => [] });
    for (const name of NAMES) verdict(name, 'UP');
  });

  const none = { observers: [], assigned: 0, accusers: 0, members: 0, sightedReporters: 0 };
  const verdict = (node: string, verdict: 'UP' | 'SUSPECT'): boolean =>
    log.say(node, { verdict, networks: [], reason: '' }, {}, 0, () => none);
  /** Everybody reports; these pairs do not hear each other. */
  const report = (
    now: number,
    cut: readonly [string, string][],
    health: Partial<Report['health']> = {},
    from: readonly string[] = NAMES,
  ): void => {
    seq++;
    for (const node of from) {
      const isCut = (p: string): boolean => cut.some((pair) => pair.includes(node) && pair.includes(p));
      const r: Report = {
        v: 1,
        node,
        bootId: 'b',
        epoch: 1,
        seq,
        listVersion: 1,
        networks: ['backend', 'management'],
        peers: NAMES.filter((p) => p !== node).map((p) => [
          p,
          isCut(p)
            ? [
                [n.misses, -1],
                [n.misses, -1],
              ]
            : [
                [0, 200],
                [0, 200],
              ],
        ]),
        health: { abstain: false, sendErrors: {}, loopGapMs: 1, ...health },
      };
      reports.hear(r, now, n);
      agents.hear(r, now);
    }
  };
  const ids = (now: number): string[] => book.sample(now, 0).map((c) => `${c.code}=${c.subject}`);
  const lasting = (cut: readonly [string, string][], health?: Partial<Report['health']>): string[] => {
    report(0, cut, health);
    expect(book.sample(0, 0).filter((c) => c.code !== 'agent-health')).toEqual([]);
    report(LINK_HOLD_MS, cut, health);
    return ids(LINK_HOLD_MS);
  };

  it('is nothing in a healthy fleet', () => {
    expect(lasting([])).toEqual([]);
  });

  it('is a link, and a node that two of its five observers have lost', () => {
    expect(lasting([['a', 'b']])).toEqual(['link-down=a~b']);
    report(10_000, []);
    expect(ids(10_000)).toEqual([]);
    report(20_000, [
      ['a', 'b'],
      ['a', 'c'],
    ]);
    book.sample(20_000, 0);
    report(20_000 + LINK_HOLD_MS, [
      ['a', 'b'],
      ['a', 'c'],
    ]);
    expect(ids(20_000 + LINK_HOLD_MS)).toEqual(['partly-heard=a']);
  });

  it('is a node of whose probes most of its observers lose many', () => {
    report(0, []);
    for (const observer of NAMES.slice(1)) {
      const said = reports.of(observer)!.report;
      const lossy: Report['peers'][number] = [
        'a',
        [
          [0, 200, 150],
          [0, 200],
        ],
      ];
      const peers = said.peers.map((p) => (p[0] === 'a' ? lossy : p));
      reports.hear({ ...said, seq: said.seq + 1, peers }, 1000, n);
    }
    expect(ids(1000)).toEqual(['link-quality=a']);
  });

  it('is no link of a node that is suspect', () => {
    verdict('a', 'SUSPECT');
    expect(lasting(NAMES.slice(1).map((p): [string, string] => ['a', p]))).toEqual([]);
  });

  it('is no link on the word of who abstains, or cannot send there', () => {
    expect(lasting([['a', 'b']], { abstain: true })).toEqual([]);
    expect(lasting([['a', 'b']], { sendErrors: { backend: 1, management: 2 } })).toEqual([]);
  });

  it('is an agent that others hear and that does not report any more, until it does', () => {
    const others = NAMES.slice(1);
    report(0, []);
    expect(ids(0)).toEqual([]);
    // The first look that finds its last report too old.
    const silentAt = 3_000;
    expect(silentAt).toBeGreaterThan(n.freshness);
    const end = silentAt + SILENT_HOLD_MS;
    for (let now = 1000; now <= end; now += 1000) {
      report(now, [], {}, others);
      expect(ids(now)).toEqual(now < end ? [] : ['agent-health=a']);
    }
    report(end + 1000, []);
    expect(ids(end + 1000)).toEqual([]);
  });

  it('is no silence of agents in the time in which nobody looked', () => {
    report(0, []);
    ids(0);
    report(1000, [], {}, NAMES.slice(1));
    ids(1000);
    // Another instance led meanwhile.
    report(3_600_000, [], {}, NAMES.slice(1));
    expect(ids(3_600_000)).toEqual([]);
  });

  it('is that the monitor cannot prove its probes, once that has lasted, also beside what most agents say', () => {
    report(0, [], { warnings: ['buffer: small'] });
    expect(book.sample(0, OUTDATED_HOLD_MS - 1).map((c) => c.severity)).toEqual(['warning']);
    expect(book.sample(0, OUTDATED_HOLD_MS)).toEqual([
      expect.objectContaining({
        code: 'agent-health',
        subject: 'fleet',
        severity: 'critical',
        message: expect.stringMatching(/^The detector has not the keys .* Most agents warn/),
      }),
    ]);
  });

  it('is what agents say of themselves, once for all where most say it', () => {
    report(0, [], { warnings: ['buffer: small'] });
    expect(ids(0)).toEqual(['agent-health=fleet']);
  });
});

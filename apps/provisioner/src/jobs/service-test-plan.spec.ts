import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ServiceTestSteps, type Finding, type NodeResult, type ServiceTestStep } from '#contracts';
import { nextStep } from './pipeline.js';
import type { NextStep, StepDone } from './step-order.js';
import type { HostSnapshot } from '../service-test/host-snapshot.js';
import type { StepReport } from '../service-test/step-report.js';

const found = (result: Finding['result'], why = ''): Finding => ({ service: 'web', result, why });
const snapshot = (o: Partial<HostSnapshot> = {}): HostSnapshot => ({
  files: { '/etc/hosts': 'h' },
  leftOut: [],
  units: ['cron.service'],
  processes: [{ pid: 1, started: 1, command: 'init' }],
  ports: ['tcp 22'],
  ...o,
});
const with_ = (files: Record<string, string>, o: Partial<HostSnapshot> = {}): HostSnapshot =>
  snapshot({ ...o, files: { '/etc/hosts': 'h', ...files } });
const report = (o: Partial<StepReport> = {}): StepReport => ({ ok: true, changed: [], edited: [], rendered: [], ...o });
const conf = { '/etc/web.conf': 'c1' };
const running: Partial<HostSnapshot> = {
  processes: [...snapshot().processes, { pid: 7, started: 9, command: 'webd' }],
  ports: ['tcp 22', 'tcp 8080'],
};

/** What each part shows of a service that is right. */
const right: Record<ServiceTestStep, StepReport> = {
  begin: report({ snapshot: snapshot() }),
  site: report({
    snapshot: with_({ ...conf, '/etc/systemd/system/web.service': 'u' }, running),
    rendered: [['templates/web.conf.j2', 'c1']],
    changed: [{ task: 'Write it', at: 'tasks/site.yml:1' }],
  }),
  check: report({ finding: found('ok') }),
  again: report({ finding: found('ok') }),
  edit: report({ edited: [{ path: '/etc/web.conf', finding: found('drift', 'another') }] }),
  resetup: report({ snapshot: with_({ ...conf, '/etc/systemd/system/web.service': 'u' }, running) }),
  recheck: report({ finding: found('ok') }),
  end: report({ snapshot: snapshot() }),
};

interface Played {
  order: string[];
  edited?: string[];
  end: Extract<NextStep, { end: string }>;
  test: NonNullable<NodeResult['test']>;
  message?: string;
}

/** Plays a test through, part after part. */
function play(
  shows: Partial<Record<ServiceTestStep, Partial<StepReport>>> = {},
  o: { cancelIn?: ServiceTestStep; resumed?: boolean; endingAtOnce?: boolean } = {},
): Played {
  const done: StepDone[] = [];
  const told: Partial<Played> & { order: string[] } = { order: [] };
  let ending = o.endingAtOnce === true ? 'cancelled by ann' : undefined;
  for (;;) {
    const next = nextStep({
      ...{ kind: 'service-test', nodes: ['n1'], service: 'web', done, resumed: o.resumed === true },
      ...(ending === undefined ? {} : { ending }),
    });
    if ('end' in next) {
      const { test, message } = next.results['n1'] ?? {};
      expect(test).toBeDefined();
      return { ...told, end: next, test: test as Played['test'], ...(message === undefined ? {} : { message }) };
    }
    const part = next.test?.part ?? 'begin';
    expect(next).toMatchObject({ run: 'service-test', nodes: ['n1'], cancellable: part !== 'end' });
    if (next.test?.files !== undefined) told.edited = next.test.files;
    told.order.push(part);
    const cancelled = o.cancelIn === part;
    if (cancelled) ending = 'cancelled by ann';
    const shown: StepReport = cancelled
      ? report({ ok: false, failed: { task: '', message: 'cancelled by ann' } })
      : ({ ...right[part], ...shows[part] } as StepReport);
    done.push({
      step: 'service-test',
      cancelled,
      results: {},
      test: { part, report: shown, hostGroup: 'g', mode: 'server' },
    });
    expect(done.length).toBeLessThan(20);
  }
}
const wrong = (...args: Parameters<typeof play>): string[] =>
  play(...args).test.wrong.map((w) => `${w.file}: ${w.what}`);

describe('the test of a service', () => {
  it('runs all its parts, in their order, and is content with a service that is right', () => {
    const told = play();
    expect(told.order).toEqual(ServiceTestSteps);
    expect(told.edited).toEqual(['/etc/web.conf']);
    expect(told.end).toMatchObject({ end: 'Complete', error: '', results: { n1: { ok: true, step: 'service-test' } } });
    expect(told.test).toEqual({
      ...{ service: 'web', hostGroup: 'g', mode: 'server', wrong: [] },
      steps: ServiceTestSteps.map((step) => ({ step, ok: true })),
    });
  });

  it('names what a second run changed, once for each task', () => {
    const again = { changed: [1, 2].map(() => ({ task: 'Write it', at: 'tasks/site.yml:1' })) };
    const told = play({ again });
    expect(told.test.wrong).toEqual([
      { file: 'tasks/site.yml:1', what: 'a second run changed "Write it": it is not idempotent' },
    ]);
    expect(told.end).toMatchObject({ end: 'Errored', results: { n1: { ok: false } } });
    expect(told.test.steps.filter((s) => !s.ok)).toEqual([{ step: 'again', ok: false }]);
    expect(told.order).toEqual(ServiceTestSteps);
  });

  it('names the file that the check does not see; broken is as good as drift', () => {
    const edited = (finding?: Finding): Partial<StepReport> => ({
      edited: [{ path: '/etc/web.conf', ...(finding && { finding }) }],
    });
    expect(wrong({ edit: edited(found('ok')) })).toEqual([
      'tasks/check.yml: says ok although /etc/web.conf (templates/web.conf.j2) was changed by hand',
    ]);
    expect(wrong({ edit: edited(found('unknown', 'no tool')) })[0]).toContain('no tool');
    expect(wrong({ edit: edited() })[0]).toContain('tells nothing of web');
    expect(wrong({ edit: edited(found('broken', 'x')) })).toEqual([]);
    expect(wrong({ edit: { edited: [] } })[0]).toMatch(/^tasks\/site.yml: no file on the node/);
  });

  it('names what cleanup has left: files by their outermost folder, units, ports, processes', () => {
    const left = with_(
      { ...conf, '/srv/web': 'folder', '/srv/web/a': 'x', '/etc/systemd/system/web.service': 'u' },
      running,
    );
    expect(wrong({ site: { ...right.site, snapshot: left }, end: { snapshot: left } })).toEqual([
      'tasks/cleanup.yml: left unit web.service, /etc/web.conf, /srv/web, port tcp 8080, process 7 (webd)',
    ]);
  });

  it('takes nothing for left that no set-up has brought, or that is another process by now', () => {
    const later = with_(
      { '/var/lib/other/state': 'new' },
      { processes: [...snapshot().processes, { pid: 7, started: 99, command: 'webd' }], ports: ['tcp 22', 'udp 5353'] },
    );
    expect(wrong({ end: { snapshot: later } })).toEqual([]);
  });

  it('knows a file of the service that an earlier test has left, by what it holds; an empty one is nobody’s', () => {
    const empty = createHash('sha256').digest('hex');
    const old = with_({ ...conf, '/etc/empty': empty });
    const site = {
      ...right.site,
      snapshot: with_({ ...conf, '/etc/empty': empty, '/etc/more': 'm1' }),
      rendered: [
        ['a', 'c1'],
        ['b', empty],
        ['c', 'm1'],
      ] as [string, string][],
    };
    const edited: StepReport['edited'] = [{ path: '/etc/more', finding: found('drift') }];
    const told = play({
      begin: { snapshot: old },
      site,
      edit: { edited },
      resetup: { snapshot: site.snapshot },
      end: { snapshot: old },
    });
    expect(told.test.wrong).toEqual([{ file: 'tasks/cleanup.yml', what: 'left /etc/web.conf' }]);
    expect(told.edited).toEqual(['/etc/more']);
  });

  it('names files of others that are not put back, and takes what one snapshot lacks for no difference', () => {
    const other = { files: { '/etc/hosts': 'h2' } };
    expect(
      wrong({
        site: { ...right.site, snapshot: snapshot({ files: { '/etc/hosts': 'h2', ...conf } }) },
        end: { snapshot: snapshot(other) },
      }),
    ).toEqual(['tasks/cleanup.yml: does not put back as it was: /etc/hosts']);
    expect(wrong({ end: { snapshot: snapshot(other) } })).toEqual([]);
    const state = (mark: string): HostSnapshot => with_({ '/var/lib/chrony/drift': mark });
    const ofOthers = { ...right.site, snapshot: with_({ ...conf, '/var/lib/chrony/drift': '2' }) };
    expect(wrong({ begin: { snapshot: state('1') }, site: ofOthers, end: { snapshot: state('3') } })).toEqual([]);
    const large = { begin: { snapshot: with_({ '/srv/data': 'folder' }, { leftOut: ['/srv/data'] }) } };
    const seen = with_({ '/srv/data': 'folder', '/srv/data/a': 'x' });
    const site = { ...right.site, snapshot: { ...seen, files: { ...seen.files, ...conf } } };
    expect(wrong({ ...large, site, resetup: { snapshot: site.snapshot }, end: { snapshot: seen } })).toEqual([]);
    expect(play({ end: { snapshot: undefined as never } }).test.wrong[0]?.what).toContain('is not known');
  });

  it('is told by a check that is not ok, that says nothing, or that changes something', () => {
    expect(wrong({ check: { finding: found('drift', 'other text') } })).toEqual([
      'tasks/check.yml: says drift right after tasks/site.yml: other text',
    ]);
    expect(wrong({ check: report({ finding: undefined as never }) })).toEqual([
      'tasks/check.yml: tells nothing of web: it must call muster_check',
    ]);
    expect(wrong({ check: { ...right.check, changed: [{ task: 'Touch', at: 'tasks/check.yml:4' }] } })).toEqual([
      'tasks/check.yml:4: "Touch" changed something: a check only looks',
    ]);
    expect(wrong({ recheck: { finding: found('broken', 'gone') } })[0]).toContain('says broken after a change by hand');
  });

  it.each(['site', 'again', 'resetup'] as const)(
    'cleans up at once where %s has failed, and names the task',
    (part) => {
      const failed = { ok: false, failed: { task: 'Write it', at: 'tasks/site.yml:7', message: 'no\nspace' } };
      const told = play({ [part]: { ...right[part], ...failed } });
      expect(told.order.at(-1)).toBe('end');
      expect(told.order.at(-2)).toBe(part);
      expect(told.test.wrong[0]).toEqual({
        file: 'tasks/site.yml:7',
        what: expect.stringMatching(/^"Write it" failed.*: no space$/) as unknown as string,
      });
    },
  );

  it('stops at a cleanup that fails where the service never was: nothing was set up yet', () => {
    const told = play({
      begin: report({ ok: false, failed: { task: 'Stop it', at: 'tasks/cleanup.yml:1', message: 'no such unit' } }),
    });
    expect(told.order).toEqual(['begin']);
    expect(told.test.wrong).toEqual([
      { file: 'tasks/cleanup.yml:1', what: '"Stop it" failed on a node on which web was never set up: no such unit' },
    ]);
  });

  it.each(ServiceTestSteps.filter((s) => s !== 'begin' && s !== 'end'))(
    'that is cancelled in %s is cleaned up, is no success, and blames nobody for what was cut off',
    (cancelIn) => {
      const told = play({}, { cancelIn });
      expect(told.order.slice(-2)).toEqual([cancelIn, 'end']);
      expect(told.end).toMatchObject({ end: 'Errored', error: 'cancelled by ann', results: { n1: { ok: false } } });
      expect(told.test.wrong.filter((w) => w.what.includes('cancelled'))).toEqual([]);
    },
  );

  it('that is cancelled before its begin does nothing; one that another worker was cut off in is cleaned up', () => {
    expect(play({}, { endingAtOnce: true }).order).toEqual([]);
    const told = play({}, { endingAtOnce: true, resumed: true });
    expect(told.order).toEqual(['end']);
    expect(told.end).toMatchObject({ end: 'Errored', error: 'cancelled by ann' });
    expect(play({}, { resumed: true }).order).toEqual(ServiceTestSteps);
  });

  it('says that something may be left where its last cleanup failed', () => {
    const end = { ok: false, failed: { task: 'Remove it', at: 'tasks/cleanup.yml:2', message: 'busy' } };
    expect(play({ end }).message).toMatch(/may stand on the node$/);
    expect(play({ again: { changed: [{ task: 'x' }] } }).message).not.toMatch(/may stand/);
  });
});

import { describe, expect, it } from 'vitest';
import { readSnapshot } from './host-snapshot.js';
import { maskedReport, stepReport, type StepReport } from './step-report.js';

const about = { host: 'n1', service: 'web', folder: '/srv/services/web', ok: true };
const read = (events: object[], o: Partial<typeof about & { message: string }> = {}): StepReport =>
  stepReport(
    events.map((e) => JSON.stringify({ host: 'n1', ...e })),
    { ...about, ...o },
  );
const task = (name: string, path: string, o: object = {}): object => ({
  ...{ event: 'task', task: name, path, status: 'ok', changed: false, ignored: false, message: '' },
  ...o,
});
const data = (told: object): object => ({ event: 'data', data: told });
const finding = (result: string, service = 'web'): object => data({ finding: { service, result, why: 'y' } });
const inRun = '/tmp/muster-run-1/services/web/tasks/site.yml:4';

describe('what a part of a test has shown', () => {
  it('is which tasks changed something, by the place that their author knows', () => {
    const { changed } = read([
      task('/tmp/muster-run-1/services/web : Write it', inRun, { changed: true }),
      task('web : Write web : again', inRun, { changed: true }),
      task('Its own', '/srv/services/web/handlers/main.yml:1', { changed: true }),
      task('web : Read it', inRun),
      task('Muster’s', '/opt/muster/playbooks/service-test.yml:3', { changed: true }),
      { ...task('web : Elsewhere', inRun, { changed: true }), host: 'n2' },
    ]);
    expect(changed).toEqual([
      { task: 'Write it', at: 'tasks/site.yml:4' },
      { task: 'Write web : again', at: 'tasks/site.yml:4' },
      { task: 'Its own', at: 'handlers/main.yml:1' },
      { task: 'Muster’s' },
    ]);
  });

  it('is the last failure of the service, not that of the task which only repeats it', () => {
    const bad = { status: 'failed', message: 'no space' };
    const events = [
      task('web : Try', '/x/services/web/tasks/site.yml:1', { ...bad, ignored: true }),
      task('web : Write it', inRun, bad),
      task('Fail where it was set up', '/opt/muster/playbooks/tasks/service-check.yml:30', bad),
    ];
    expect(read(events, { ok: false }).failed).toEqual({
      task: 'Write it',
      at: 'tasks/site.yml:4',
      message: 'no space',
    });
    // What its own rescue has dealt with is no failure of the run.
    expect(read(events).failed).toBeUndefined();
    expect(read([], { ok: false, message: 'no route' }).failed).toEqual({ task: '', message: 'no route' });
  });

  it('is what the check said of the service alone, and after which change by hand', () => {
    const told = read([
      data({ edited: '/etc/a' }),
      finding('ok'),
      finding('drift'),
      finding('broken', 'other'),
      data({ edited: '/etc/b' }),
    ]);
    expect(told.edited).toEqual([
      { path: '/etc/a', finding: { service: 'web', result: 'drift', why: 'y' } },
      { path: '/etc/b' },
    ]);
    expect(told.finding).toBeUndefined();
    expect(read([finding('ok')]).finding?.result).toBe('ok');
  });

  it('takes no snapshot that is not whole', () => {
    const snapshot = {
      files: { '/a': 'x' },
      leftOut: [],
      units: [],
      ports: ['tcp 1'],
      processes: [{ pid: 1, started: 2, command: 'c' }],
    };
    expect(read([data({ snapshot })]).snapshot).toEqual(snapshot);
    for (const wrong of [
      { files: [] },
      { files: { a: 1 } },
      { ports: [1] },
      { processes: [{ pid: 'x' }] },
      { units: null },
    ])
      expect(readSnapshot({ ...snapshot, ...wrong })).toBeUndefined();
  });

  it('is told without what is secret', () => {
    const mask = (text: string): string => text.replaceAll('hunter2', '***');
    const report = read(
      [
        task('web : Set hunter2', inRun, { status: 'failed', message: 'hunter2 is wrong' }),
        data({ finding: { service: 'web', result: 'drift', why: 'hunter2' } }),
        data({ edited: '/etc/a' }),
        data({ finding: { service: 'web', result: 'drift', why: 'hunter2' } }),
        data({
          snapshot: {
            files: {},
            leftOut: [],
            units: [],
            ports: [],
            processes: [{ pid: 1, started: 1, command: 'web hunter2' }],
          },
        }),
        task('web : Change hunter2', inRun, { changed: true }),
      ],
      { ok: false },
    );
    expect(JSON.stringify(report)).toContain('hunter2');
    expect(JSON.stringify(maskedReport(report, mask))).not.toContain('hunter2');
  });
});

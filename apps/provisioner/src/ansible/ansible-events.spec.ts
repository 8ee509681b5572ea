import { describe, expect, it } from 'vitest';
import { nodeResults } from './ansible-events.js';

const lines = (...events: object[]): string[] => events.map((e) => JSON.stringify(e));
const recap = (host: string, more: object = {}) => ({
  event: 'recap',
  host,
  ok: 1,
  changed: 0,
  failures: 0,
  unreachable: 0,
  ...more,
});
const failed = (host: string, task: string, message: string, more: object = {}) => ({
  event: 'task',
  host,
  task,
  message,
  status: 'failed',
  changed: false,
  ignored: false,
  ...more,
});
const clean = { exitCode: 0, tail: '' };

describe('the results of a run', () => {
  it('name per node the task that failed, and why', () => {
    const r = nodeResults(
      'site',
      ['a', 'b'],
      lines(
        failed('b', 'Write it', 'disk full'),
        failed('b', 'Tidy', 'm', { ignored: true }),
        recap('a', { changed: 3 }),
        recap('b', { failures: 1 }),
      ),
      { exitCode: 2, tail: '' },
    );
    expect(r).toEqual({
      a: { ok: true, step: 'site', changed: 3 },
      b: { ok: false, step: 'site', changed: 0, failedTask: 'Write it', message: 'disk full' },
    });
  });

  it('tell a node that ssh did not get to from one where a task failed', () => {
    const lost = failed('b', 'Look', 'no route to host', { status: 'unreachable' });
    const r = nodeResults(
      'check',
      ['a', 'b'],
      lines(failed('a', 'Look', 'bad'), recap('a', { failures: 1 }), lost, recap('b', { unreachable: 1 })),
      { exitCode: 4, tail: '' },
    );
    expect(r['a']).not.toHaveProperty('unreachable');
    expect(r['b']).toMatchObject({ ok: false, unreachable: true, message: 'no route to host' });
  });

  it('name the services that a site run has told of', () => {
    const finding = (service: string) => ({
      ...{ event: 'data', host: 'a' },
      data: { finding: { service, result: 'ok', why: '' } },
    });
    const r = nodeResults('site', ['a'], lines(finding('mirror'), finding('agent'), recap('a')), clean);
    expect(r['a']).toEqual({ ok: true, step: 'site', changed: 0, services: ['agent', 'mirror'] });
  });

  it('do not hold a failure against a node that the playbook ignored or rescued', () => {
    const r = nodeResults(
      'site',
      ['a'],
      lines(failed('a', 'x', 'm', { ignored: true }), failed('a', 'y', 'm'), recap('a')),
      clean,
    );
    expect(r['a']).toMatchObject({ ok: true });
  });

  it('carry findings and checksum of a check', () => {
    const data = (d: object) => ({ event: 'data', host: 'a', data: d });
    const finding = { service: 'mirror', result: 'drift', why: 'edited' };
    const r = nodeResults('check', ['a'], lines(data({ finding }), data({ checksum: 'c1' }), recap('a')), clean);
    expect(r['a']).toEqual({
      ok: true,
      step: 'check',
      changed: 0,
      check: { findings: [finding], checksum: 'c1' },
    });
  });

  it('tell what the machine says of its hardware, whatever else came of the run, and nothing that is no text', () => {
    const hardware = { systemUuid: 'u', boardSerial: 7, chassisSerial: 'x'.repeat(200), other: 'y' };
    const told = { event: 'data', host: 'a', data: { hardware } };
    const r = nodeResults('check', ['a'], lines(told, recap('a', { failures: 1 })), clean);
    expect(r['a']).toMatchObject({ ok: false, hardware: { systemUuid: 'u' } });
    expect(Object.keys(r['a']?.hardware ?? {})).toEqual(['systemUuid']);
  });

  it('take a check without a checksum for no check', () => {
    expect(nodeResults('check', ['a'], lines(recap('a')), clean)['a']).toMatchObject({ ok: false });
  });

  it('say of every workload whether it was started, also in a task that failed', () => {
    const workloads = { db: { started: true, reason: '' }, web: { started: false, reason: 'STALE: older', seen: 9 } };
    const r = nodeResults(
      'recover',
      ['a'],
      lines(
        failed('a', 'Start', 'web: no'),
        { event: 'data', host: 'a', data: { workloads } },
        recap('a', { failures: 1 }),
      ),
      { exitCode: 2, tail: '' },
    );
    expect(r['a']).toMatchObject({ ok: false, workloads });
  });

  it('never call a node good that Ansible did not finish with', () => {
    const half = ['{"event": "task", "host": "a", "sta'];
    expect(nodeResults('site', ['a'], half, { exitCode: 4, tail: 'ERROR! no such file' })['a']).toEqual({
      ok: false,
      step: 'site',
      message: 'Ansible did not finish with this node (exit code 4): ERROR! no such file',
    });
    expect(nodeResults('site', ['a'], [], { exitCode: null, ended: 'cancelled', tail: '' })['a']).toMatchObject({
      ok: false,
      message: 'cancelled',
    });
    expect(nodeResults('site', ['a'], [], clean)['a']).toMatchObject({ ok: false });
  });

  describe('with services of the operator’s own', () => {
    const told = (service: string, result: string, why = '') => ({
      ...{ event: 'data', host: 'a' },
      data: { finding: { service, result, why } },
    });
    const effective = (service: string, checksum: string) => ({
      ...{ event: 'data', host: 'a' },
      data: { effective: { service, checksum } },
    });
    const sum = { event: 'data', host: 'a', data: { checksum: 'base' } };
    const expected = new Map([['a', ['web']]]);
    const look = (step: 'site' | 'check', ...events: object[]) =>
      nodeResults(step, ['a'], lines(...events, sum, recap('a')), clean, expected)['a'];

    it.each(['site', 'check'] as const)('a %s that tells nothing of one of them is no success', (step) => {
      const agent = told('agent', 'ok');
      for (const events of [[agent], [agent, told('web', 'ok')], [agent, effective('web', '1')]])
        expect(look(step, ...events)).toMatchObject({
          ok: false,
          message: expect.stringMatching(/^nothing was told of web: /) as unknown,
        });
      expect(look(step, agent, told('web', 'ok'), effective('web', '1'))).toMatchObject({ ok: true });
    });

    it('the checksum of the effective configuration is another when any of them has another', () => {
      const sums = [look('site', sum), ...['1', '2'].map((c) => look('site', told('web', 'ok'), effective('web', c)))];
      expect(new Set(sums.map((r) => r?.checksum)).size).toBe(3);
      const check = look('check', told('web', 'ok'), effective('web', '1'));
      expect(check?.check?.checksum).toBe(sums[1]?.checksum);
    });

    it('what was found in its place stands beside the words, of each finding that counts', () => {
      const drift = (why: string, digest: unknown) => ({
        ...{ event: 'data', host: 'a' },
        data: { finding: { service: 'web', result: 'drift', why, digest } },
      });
      const one = look('check', drift('a differs', 'd1'), effective('web', '1'));
      expect(one?.check?.findings).toEqual([{ service: 'web', result: 'drift', why: 'a differs', digest: 'd1' }]);
      const two = (second: string | undefined) =>
        look('check', drift('a differs', 'd1'), drift('a differs', second), effective('web', '1'))?.check?.findings[0];
      expect(two('d2')).toMatchObject({ result: 'drift', why: 'a differs' });
      expect(two('d2')?.digest).not.toBe(two('d3')?.digest);
      // Of a part nothing is known but its words: no digest covers it.
      expect(two(undefined)).not.toHaveProperty('digest');
      const broken = look('check', told('web', 'broken', 'shut'), told('web', 'ok'), effective('web', '1'));
      expect(broken?.check?.findings[0]).not.toHaveProperty('digest');
      expect(look('check', drift('a differs', 7), effective('web', '1'))).toMatchObject({ ok: false });
    });

    it('the worst of several findings about one counts, whichever came last', () => {
      const check = look('check', told('web', 'broken', 'its port is shut'), told('web', 'ok'), effective('web', '1'));
      expect(check?.check?.findings).toEqual([{ service: 'web', result: 'broken', why: 'its port is shut' }]);
    });
  });
});

import { describe, expect, it } from 'vitest';
import { AnsibleConfig } from '#service';
import { defaultSettings } from '#contracts';
import { stepFiles } from '../jobs/job-plan.js';
import { job, node } from '../testing/records.js';
import { aloneAmong, onlyServices } from './partial-resetup.js';
import type { Service } from './service-folder.js';

const service = (name: string, resetup: Service['resetup']): Service => ({
  ...{ name, resetup, groups: { 'service-worker': 'any' }, version: '1', after: [], folder: `/s/${name}` },
  ...{ templates: [], files: {}, variables: [], defaults: {} },
});
const all = [service('db', 'all'), service('web', 'alone'), service('log', 'alone')];
const resetup = (...services: string[]) => ({ kind: 'resetup' as const, services });

describe('a re-setup of some services only', () => {
  it('is of those that say they may be set up by themselves, and of all where any of them does not', () => {
    expect(aloneAmong(all, ['db', 'web'])).toEqual(['web']);
    expect(onlyServices(resetup('web', 'log'), all)).toEqual(['web', 'log']);
    for (const asked of [[], ['db'], ['web', 'db']]) expect(onlyServices(resetup(...asked), all)).toBeUndefined();
    for (const there of [all, []]) expect(() => onlyServices(resetup('web', 'gone'), there)).toThrow(/no .*gone/);
    expect(onlyServices({ kind: 'maintenance', services: ['web'] }, all)).toBeUndefined();
  });

  it('is told to the playbooks, and a check tells which may be set up so', () => {
    const of = (
      services: string[] | undefined,
      kind: 'resetup' | 'check',
      step: 'site' | 'cleanup' | 'check' | 'release',
    ) =>
      stepFiles(
        {
          job: job('j1', { kind, ...(services && { services }) }),
          nodes: [node('n1')],
          settings: defaultSettings('spec'),
          ansible: new AnsibleConfig(),
          services: all,
        },
        { step, nodes: ['n1'], run: 'r' },
      );
    for (const step of ['cleanup', 'site'] as const) {
      expect(of(['web'], 'resetup', step).extraVars).toContain('"muster_only": ["web"]');
      expect(of(undefined, 'resetup', step).extraVars).not.toContain('muster_only');
    }
    // What lets the hosts go after a cancellation has nothing to do with services, and must not be refused for them.
    expect(of(['web'], 'resetup', 'release').extraVars).not.toContain('muster_only');
    expect(of(undefined, 'check', 'check').services?.alone).toEqual(['web', 'log']);
  });
});

import { describe, expect, it } from 'vitest';
import { defaultSettings } from '#contracts';
import { AnsibleConfig } from '#service';
import { job, node } from '../testing/records.js';
import { stepFiles } from './job-plan.js';

describe('the log of a recovery', () => {
  it('hides the secrets of what it starts', () => {
    const ansible = new AnsibleConfig();
    const task = {
      workload: 'db',
      generation: 1,
      driver: 'ansible',
      spec: { exec: 'db', environment: { DB_PWD: 'tr0ub4dor' } },
    };
    const recover = job('j1', { kind: 'recover', nodes: ['n1'], recover: [task] });
    const plan = { job: recover, nodes: [node('n1')], settings: defaultSettings('spec'), ansible };
    for (const given of [{}, { recover: [task] }]) {
      const { mask } = stepFiles(plan, { step: 'recover', nodes: ['n1'], run: 'r', ...given });
      expect(mask('db: tr0ub4dor is wrong')).toBe('db: ******** is wrong');
    }
  });
});

import { describe, expect, it } from 'vitest';
import { AnsibleConfig } from './config.js';
import { effectiveAnsible } from './effective-ansible.js';

describe('the effective Ansible configuration', () => {
  const config = Object.assign(new AnsibleConfig(), { playbooks: '/a', user: 'ops', extraVars: { x: { y: 1 }, z: 1 } });

  it('is that of the file while nothing was changed at run time', () => {
    expect(effectiveAnsible(config, {})).toEqual(config);
  });

  it('takes what was changed, variable by variable, and leaves out what was taken away', () => {
    const is = effectiveAnsible(config, {
      playbooks: '/b',
      sitePlaybook: 's.yml',
      extraVars: { x: { w: 2 }, z: null },
    });
    expect(is).toMatchObject({ playbooks: '/b', sitePlaybook: 's.yml', user: 'ops', checkPlaybook: 'check.yml' });
    expect(is.extraVars).toEqual({ x: { w: 2 } });
  });
});

import { describe, expect, it } from 'vitest';
import { MusterError } from '../errors/errors.js';
import { checkMemberNames, checkVariables } from './variable-names.js';

const codeOf = (check: () => void): string => {
  try {
    check();
    return 'ok';
  } catch (e) {
    return MusterError.from(e).code;
  }
};

describe('variables of people', () => {
  it.each<[string, unknown, string]>([
    ['ansible_port', '2222', 'ok'],
    ['ansible_port', 70_000, 'BAD_REQUEST'],
    ['ansible_user', 'ops', 'ok'],
    ['ansible_user', 'ops -o ProxyCommand=id', 'BAD_REQUEST'],
    ['ansible_become', false, 'ok'],
    ['ansible_become', 'yes', 'ok'],
    ['ansible_become', '{{ 1 }}', 'BAD_REQUEST'],
    ['ansible_become_user', 'root', 'ok'],
    ['ansible_become_user', ['root'], 'BAD_REQUEST'],
    ['ansible_become_method', 'sudo', 'ok'],
    ['ansible_become_method', './mine', 'BAD_REQUEST'],
    ['ansible_python_interpreter', '/usr/bin/python3', 'ok'],
    ['ansible_python_interpreter', '/opt/venv-1/bin/python3.11', 'ok'],
    ['ansible_python_interpreter', '/usr/libexec/platform-python', 'ok'],
    ['ansible_python_interpreter', 'auto_silent', 'ok'],
    ['ansible_python_interpreter', '/tmp/python3', 'BAD_REQUEST'],
    ['ansible_python_interpreter', '/usr/../tmp/python3', 'BAD_REQUEST'],
    ['ansible_python_interpreter', '/usr/bin/python3 -c "import os"', 'BAD_REQUEST'],
    ['ansible_python_interpreter', '/usr/bin/env', 'BAD_REQUEST'],
    ['ansible_python_interpreter', 'python3', 'BAD_REQUEST'],
    ['ansible_host', '10.0.0.1', 'BAD_REQUEST'],
    ['ansible_shell_executable', '/bin/sh', 'BAD_REQUEST'],
    // They name a role to be run from the control machine, and what of a node a run passes over.
    ['muster_services', [{ name: 'x' }], 'BAD_REQUEST'],
    ['muster_service_roles', '/tmp/mine', 'BAD_REQUEST'],
    ['muster_service', { name: 'x' }, 'BAD_REQUEST'],
    ['muster_only', ['web'], 'BAD_REQUEST'],
    ['muster_mode', 'absent', 'BAD_REQUEST'],
    ['muster_unchecked', '', 'BAD_REQUEST'],
    ['muster_service_effective', {}, 'BAD_REQUEST'],
    ['muster_mirror_port', 7379, 'ok'],
    ['plain', { a: [{ 'b{': 1 }] }, 'BAD_REQUEST'],
    ['plain', { a: ['{{ b }}'] }, 'ok'],
  ])('%s: %j is %s', (name, value, told) => {
    expect(codeOf(() => checkVariables({ [name]: value }, 'it'))).toBe(told);
  });

  it('are looked through however deep they are', () => {
    let deep: unknown = { '{{ x }}': 1 };
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(codeOf(() => checkMemberNames(deep, 'it'))).toBe('BAD_REQUEST');
  });
});

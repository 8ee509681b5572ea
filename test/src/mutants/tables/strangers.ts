import type { Mutant } from '../mutant.js';

/** What people and programs send stays data: nothing of it is carried out, and it stops nobody. */
export const strangers: readonly Mutant[] = [
  {
    name: 'Ansible takes the name of a member for a template',
    file: 'apps/provisioner/src/content/ansible-yaml.ts',
    symbol: 'mapping',
    operation: { replace: 'text(key, o, at)', with: 'quoted(key, at)' },
    specs: ['apps/provisioner/src/ansible/strange-variables.spec.ts'],
  },
  {
    name: 'a template in two halves is put together',
    file: 'apps/provisioner/src/content/ansible-yaml.ts',
    symbol: 'text',
    operation: { replace: "!value.includes('{')", with: '!/\\{[{%#]/.test(value)' },
    specs: ['apps/provisioner/src/ansible/strange-variables.spec.ts'],
  },
  {
    name: 'a template in the name of a member is accepted',
    file: 'libs/contracts/src/settings/variable-names.ts',
    symbol: 'checkMemberNames',
    operation: { replace: "name.includes('{')", with: "name === '{'" },
    specs: ['libs/contracts/src/settings/variable-names.spec.ts'],
  },
  {
    name: 'how a host is reached holds for the control machine, too',
    file: 'apps/provisioner/src/content/variables.ts',
    symbol: 'variablesOfRun',
    operation: [
      { replace: 'put(parts.others, whose, false)', with: 'put(from, whose, false)' },
      { replace: 'Object.keys(parts.connection)', with: '[]' },
    ],
    specs: ['apps/provisioner/src/content/variables.spec.ts'],
  },
  {
    name: 'any file is an interpreter',
    file: 'libs/contracts/src/settings/variable-names.ts',
    symbol: 'CONNECTION',
    operation: { replace: "typeof v === 'string' && INTERPRETER.test(v)", with: "typeof v === 'string'" },
    specs: ['libs/contracts/src/settings/variable-names.spec.ts'],
  },
];

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
      { drop: 'for (const name of Object.keys(parts.connection)) lines.delete(name)' },
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
  {
    name: 'a spreadsheet carries out the cells of an export',
    file: 'apps/inventory/src/nodes/files/csv-file.ts',
    symbol: 'csvLines',
    operation: { replace: "guarded(cells[c] ?? '')", with: "cells[c] ?? ''" },
    specs: ['apps/inventory/src/nodes/files/files.spec.ts'],
  },
  {
    name: 'texts of a file steer a terminal',
    file: 'apps/inventory/src/nodes/files/parse-file.ts',
    symbol: 'hostileRow',
    operation: { drop: "refuseHostile(row, 'the file')" },
    specs: ['apps/inventory/src/nodes/files/files.spec.ts'],
  },
  {
    name: 'a file is parsed however deep it is',
    file: 'apps/inventory/src/nodes/files/yaml-limits.ts',
    symbol: 'tokenFault',
    operation: { replace: 'depth > DEEPEST || indicators > DEEPEST', with: 'depth < 0' },
    specs: ['apps/inventory/src/nodes/files/files.spec.ts'],
  },
  {
    name: 'a mapping of a file has as many members as it likes',
    file: 'apps/inventory/src/nodes/files/yaml-limits.ts',
    symbol: 'treeFaults',
    operation: { replace: 'node.items.length > MOST_KEYS', with: 'node.items.length < 0' },
    specs: ['apps/inventory/src/nodes/files/files.spec.ts'],
  },
  {
    name: 'a table has as many columns as it likes',
    file: 'apps/inventory/src/nodes/files/csv-file.ts',
    symbol: 'readCsv',
    operation: { replace: 'head.record.length > MOST_KEYS', with: 'head.record.length < 0' },
    specs: ['apps/inventory/src/nodes/files/files.spec.ts'],
  },
  {
    name: 'what people wrote makes lines of its own',
    file: 'apps/cli/src/output/one-line.ts',
    symbol: 'oneLine',
    operation: { replace: "text.replaceAll(/\\r\\n|(?!\\u001b\\[\\d+m)\\p{Cc}/gu, ' ')", with: 'text' },
    specs: ['apps/cli/src/nodes/nodes.spec.ts'],
  },
];

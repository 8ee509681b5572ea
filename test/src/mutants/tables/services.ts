import type { Mutant } from '../mutant.js';

const declared = ['libs/contracts/src/services/service-file.spec.ts'];
const folder = ['apps/provisioner/src/services/service-folder.spec.ts'];
const partial = ['apps/provisioner/src/services/partial-resetup.spec.ts'];

/** A slip of the pen in a service is refused with its line: else nodes would lose a service without a word. */
export const services: readonly Mutant[] = [
  {
    name: 'a misspelt name in a service.yml means nothing, without a word',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'Reader.members',
    operation: { replace: '!known.includes(name)', with: 'false' },
    specs: declared,
  },
  {
    name: 'of a name that stands twice one is dropped, without a word',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'Reader.constructor',
    operation: { set: 'uniqueKeys', to: 'false' },
    specs: declared,
  },
  {
    name: 'a service reads files outside of its folder',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'Reader.list',
    operation: { operand: "!value.split('/').includes('..')" },
    specs: declared,
  },
  {
    name: 'a service of one’s own takes the place of the agent',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'readServiceFile',
    operation: { replace: 'name === AGENT', with: 'false' },
    specs: declared,
  },
  {
    name: 'a group without a mode is one with any',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'Reader.groups',
    operation: { replace: "typeof mode === 'string' && MODE.test(mode)", with: 'name !== undefined' },
    specs: declared,
  },
  {
    name: 'another version is the same configuration where the number is the same',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'readVersion',
    operation: { operand: 'node.source' },
    specs: declared,
  },
  {
    name: 'a service that does not say so may be set up by itself',
    file: 'libs/contracts/src/services/service-file.ts',
    symbol: 'readResetup',
    operation: {
      replace: "node === undefined ? 'all' : reader.scalar(node)",
      with: "node === undefined ? 'alone' : reader.scalar(node)",
    },
    specs: declared,
  },
  {
    name: 'a service is set up before what it needs',
    file: 'libs/contracts/src/services/service-order.ts',
    symbol: 'inOrder',
    operation: { drop: 'if (other !== undefined) visit(other, [...way, s.name])' },
    specs: declared,
  },
  {
    name: 'a service waits for one that is not there, without a word',
    file: 'libs/contracts/src/services/service-order.ts',
    symbol: 'inOrder',
    operation: { replace: '!byName.has(before)', with: 'false' },
    specs: declared,
  },
  {
    name: 'a folder of services that is gone takes all services from the nodes',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'readServices',
    operation: { replace: 'config.services === undefined', with: 'true' },
    specs: folder,
  },
  {
    name: 'a folder that cannot be read counts as one that is not there',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'isThere',
    operation: { replace: "error.code === 'ENOENT' || error.code === 'ENOTDIR'", with: 'error.code !== undefined' },
    specs: folder,
  },
  {
    name: 'a service without a check is in order on every node',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'readService',
    operation: { replace: '!(await isThere(path))', with: 'false' },
    specs: folder,
  },
  {
    name: 'a misspelt file of a service is read by nobody, without a word',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'readService',
    operation: { operand: '!OWN_FILES.includes(entry)' },
    specs: folder,
  },
  {
    name: 'a template that counts and is not there is no change',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'readService',
    operation: { replace: 'missing !== undefined', with: 'false' },
    specs: folder,
  },
  {
    name: 'what a folder below templates holds does not count',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'below',
    operation: {
      replace: 'found.push(...(await below(path)).map((rest) => `${entry}/${rest}`))',
      with: 'await below(path)',
    },
    specs: folder,
  },
  {
    name: 'another file of the same name is the same configuration',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'readService',
    operation: { replace: "await sha256(join(folder, 'files', path))", with: 'path' },
    specs: folder,
  },
  {
    name: 'variables of a service do not count where it does not name them',
    file: 'apps/provisioner/src/services/service-folder.ts',
    symbol: 'readService',
    operation: { replace: 'Object.keys(defaults)', with: '[]' },
    specs: folder,
  },
  {
    name: 'a service that this worker does not have is left out of a re-setup',
    file: 'apps/provisioner/src/services/partial-resetup.ts',
    symbol: 'onlyServices',
    operation: { replace: 'unknown.length > 0', with: 'false' },
    specs: partial,
  },
  {
    name: 'some are set up by themselves where one of them may not be',
    file: 'apps/provisioner/src/services/partial-resetup.ts',
    symbol: 'onlyServices',
    operation: { replace: 'aloneAmong(services, asked).length === new Set(asked).size', with: 'true' },
    specs: partial,
  },
  {
    name: 'a re-setup of some cleans up all',
    file: 'apps/provisioner/src/jobs/job-plan.ts',
    symbol: 'WITH_SERVICES',
    operation: { row: "'cleanup'" },
    specs: partial,
  },
];

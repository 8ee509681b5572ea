import { describe, expect, it } from 'vitest';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { readFileSync } from 'node:fs';
import { PowerDeviceRequest, WorkloadRequest } from '../rpc/requests.js';
import { RecoverySpecRequest } from './recovery-spec-request.js';

const check = (request: object): string[] =>
  validateSync(request, { whitelist: true, forbidNonWhitelisted: true }).map((e) => e.toString());
const refused = (spec: unknown, driver = 'ansible'): string =>
  check(plainToInstance(WorkloadRequest, { recovery: { driver, spec } })).join();

describe('what a workload is started by', () => {
  it.each<[string, object]>([
    ['a command line', { exec: '/usr/bin/db --name "a b"' }],
    ['a list of words', { exec: ['/usr/bin/db', '--name', 'a b%c$d'] }],
    ["a unit of the host's own", { unit: 'postgresql@14-main.service' }],
    [
      'every member',
      {
        ...{ exec: '/usr/bin/db', unit: 'db.service', description: 'The database', user: 'db' },
        ...{ workingDirectory: '/srv/db', environment: { MODE: 'x y', PORT: 5432, FAST: true }, restart: 'always' },
      },
    ],
    ['nothing yet', {}],
  ])('is taken: %s', (_what, spec) => {
    expect(refused(spec)).toBe('');
  });

  it.each<[string, unknown, string]>([
    ['a typo', { exce: '/usr/bin/db' }, 'exce'],
    ['a typo in a name that is there', { Exec: '/usr/bin/db' }, 'Exec'],
    ['a command that begins nowhere', { exec: 'db --name a' }, 'exec'],
    ['another line of a unit', { exec: '/usr/bin/db\nExecStartPost=/bin/evil' }, 'exec'],
    ['no words', { exec: [] }, 'exec'],
    ['a number among the words', { exec: ['/usr/bin/db', 1] }, 'exec'],
    ['a program that systemd would expand', { exec: ['/usr/bin/$db'] }, 'exec'],
    ['what is no service', { unit: 'db.timer' }, 'unit'],
    ['a unit that is a path', { unit: '../db.service' }, 'unit'],
    ['a user of two words', { user: 'db root' }, 'user'],
    ['a folder that begins nowhere', { workingDirectory: 'srv' }, 'workingDirectory'],
    ['a list of variables', { environment: ['A=1'] }, 'environment'],
    ['a variable that is none', { environment: { 'A-B': '1' } }, 'environment'],
    ['a variable of two lines', { environment: { A: '1\n2' } }, 'environment'],
    ['a variable that holds more', { environment: { A: {} } }, 'environment'],
    ['a restart that systemd has not', { restart: 'sometimes' }, 'restart'],
    ['a text', 'systemctl start db', 'spec'],
  ])('is refused: %s', (_what, spec, member) => {
    expect(refused(spec)).toContain(member);
  });

  it.each(['ssh', 'event', 'magic'])('is not the driver %s, which nobody carries out', (driver) => {
    expect(refused({ exec: '/usr/bin/db' }, driver)).toContain('driver has failed the following constraints: isIn');
  });
});

describe('a power device', () => {
  it.each(['exec', 'redfish', 'fence-agent:apc'])('has no driver %s, which nobody carries out', (driver) => {
    const device = plainToInstance(PowerDeviceRequest, { id: 'bmc', driver, address: '10.2.0.1' });
    expect(check(device).join()).toContain('driver has failed the following constraints: isIn');
  });
});

describe('the members of a spec', () => {
  const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
  const members = [
    ...new Set(
      getMetadataStorage()
        .getTargetValidationMetadatas(RecoverySpecRequest, '', false, false)
        .map((rule) => rule.propertyName),
    ),
  ].sort();

  it('are those that the playbook reads, and no others', () => {
    const module = read('playbooks/library/muster_workload.py');
    const used = [...module.matchAll(/spec(?:\.get\(|\[)"(\w+)"/g)].map(([, name]) => name ?? '');
    expect([...new Set(used)].sort()).toEqual(members);
  });

  it('stand in docs/workloads.md, each in a row of its own', () => {
    const rows = [...read('docs/workloads.md').matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name ?? '');
    expect(rows.sort()).toEqual(members);
  });
});

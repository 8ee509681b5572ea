import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { NodeView } from '#contracts';
import { NAME_PATTERN } from '#contracts/names/names.js';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { newService } from './new-service.js';
import { standingServices, standingServicesView } from './standing-services.js';
import { testCommand } from './test-service.js';

export function serviceCommands(program: Command): void {
  const service = examples(
    program.command('service').description('services of your own: a folder of Ansible content each (docs/services.md)'),
    'service new web --dir /etc/muster/services',
    'service test web --on host1-SN1',
    'service list',
  );
  examples(
    does(
      service
        .command('new <name>')
        .description('write one that works as it is, with a check, to be changed by you')
        .option('--dir <folder>', 'folder of services: ansible.services of the provisioners', 'services')
        .option('--host-group <group>', 'where it is to be', 'service-worker'),
      create,
    ),
    'service new web --dir /etc/muster/services',
  );
  testCommand(service);
  examples(
    does(
      service
        .command('list')
        .description('which stand on which nodes, and what the last check or set-up has found there, since when'),
      list,
    ),
    'service list',
    'service list --json',
  );
}

async function create(run: Run, name: string, o: { dir: string; hostGroup: string }): Promise<void> {
  const folder = resolve(o.dir, name);
  const files = newService(name, o.hostGroup);
  if (!NAME_PATTERN.test(o.hostGroup))
    throw new Failure(`${JSON.stringify(o.hostGroup)} cannot be the name of a host group`);
  // By the reader that will read it: what it would refuse is not written. Loaded only here, for its parser.
  const { readServiceFile } = await import('#contracts/services/service-file.js');
  readServiceFile(name, files.get('service.yml') ?? '', join(folder, 'service.yml'));
  if (existsSync(folder)) throw new Failure(`${folder} is there already: nothing was written`);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
  await run.print.done(
    { name, folder },
    folder,
    `${folder} is written. Try it on a node that is out of service: \`muster service test ${name} --on NODE\`. The nodes of ${o.hostGroup} get it with \`muster nodes maintenance NODE --wait\`.`,
  );
}

async function list(run: Run): Promise<void> {
  const nodes = await run.server.all<NodeView>('/v1/nodes');
  await run.print.list(standingServices(nodes), standingServicesView(run.terminal));
}

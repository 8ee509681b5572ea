import type { Command } from 'commander';
import type { NodeCreateRequest, NodeReplaceRequest, NodeView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure, UsageFailure } from '../failure/failure.js';
import { askAboutWorkloads } from '../input/workloads-at-stake.js';
import { assignedFields, removedFields } from './assigned-fields.js';
import { nodePath } from './fetch-nodes.js';

const FIELDS = 'hostGroup=… failureDomain=… vars.NAME=text vars.NAME:=JSON network.NAME=address …';

export function recordCommands(node: Command): void {
  examples(
    does(
      node
        .command('create <label> <serial> <fields...>')
        .description(`register a node under <label>-<serial>; fields: ${FIELDS}`)
        .option('--not-enrolled', 'it runs no Muster agent: other monitors say how it is'),
      create,
    ),
    'node create host1 SN1 network.management=10.0.0.11 network.backend=10.1.0.11',
    'node create host2 SN2 network.management=10.0.0.12 failureDomain=rack1 vars.rack=r1 vars.cores:=32',
  );
  examples(
    does(
      node.command('set <name> <fields...>').description(`change a node; what is not named stays; fields: ${FIELDS}`),
      set,
    ),
    'node set host1-SN1 hostGroup=service-worker vars.rack=r1 network.backend=10.1.0.12',
    'node set host1-SN1 vars.disks:=\'["sda","sdb"]\' fencing=manual',
  );
  examples(
    does(
      node
        .command('unset <name> <fields...>')
        .description('remove vars.NAME, network.NAME, hostGroup, or ssh-host-keys: the next contact pins them anew'),
      unset,
    ),
    'node unset host1-SN1 vars.rack',
    'node unset host1-SN1 ssh-host-keys     # after its disk was replaced',
  );
  examples(
    does(
      node
        .command('delete <name>')
        .description('forget a Disappeared node, with its vars and passwords')
        .option('--yes', 'do not ask'),
      forget,
    ),
    'node delete host1-SN1',
  );
  examples(
    does(
      node
        .command('replace <name> <serial> [networks...]')
        .description(
          'new hardware in its place, with its host group, vars and addresses unless network.NAME=address says other',
        )
        .option('--label <label>', 'another label than the old one')
        .option('--yes', 'do not ask, also where workloads run there'),
      replace,
    ),
    'node replace host1-SN1 SN7',
    'node replace host1-SN1 SN7 network.backend=10.1.0.17 --label host7',
  );
}

async function create(
  run: Run,
  label: string,
  serial: string,
  fields: string[],
  o: { notEnrolled?: boolean },
): Promise<void> {
  const { networks, ...more } = assignedFields(fields) as Partial<NodeCreateRequest>;
  if (networks === undefined) throw new UsageFailure('a node has at least network.management=ADDRESS');
  const request: NodeCreateRequest = {
    label,
    serial,
    networks,
    ...more,
    ...(o.notEnrolled === true && { enrolled: false }),
  };
  const node = await run.server.post<NodeView>('/v1/nodes', request);
  await run.print.done(node, node.name, `${node.name} is registered`);
}

async function set(run: Run, name: string, fields: string[]): Promise<void> {
  const node = await run.server.exchange<NodeView>('PATCH', nodePath(name), assignedFields(fields));
  await run.print.done(node, name, `${name} is changed`);
}

async function unset(run: Run, name: string, keys: string[]): Promise<void> {
  const node = await run.server.exchange<NodeView>('PATCH', nodePath(name), removedFields(keys));
  await run.print.done(node, name, `${name} is changed`);
}

async function forget(run: Run, name: string, o: { yes?: boolean }): Promise<void> {
  if (o.yes !== true && run.terminal.canAsk && !(await run.terminal.confirm(`delete ${name}: it is forgotten. Go on?`)))
    throw new Failure('nothing was done');
  await run.server.exchange('DELETE', nodePath(name));
  await run.print.done({ name }, name, `${name} is forgotten`);
}

async function replace(
  run: Run,
  name: string,
  serial: string,
  given: string[],
  o: { label?: string; yes?: boolean },
): Promise<void> {
  const { networks, ...more } = assignedFields(given) as Pick<NodeReplaceRequest, 'networks'>;
  if (Object.keys(more).length > 0)
    throw new UsageFailure('replace takes network.NAME=address; for the rest: node set');
  await askAboutWorkloads(run, `replace ${name}`, [name], o.yes === true);
  const request: NodeReplaceRequest = {
    serial,
    ...(o.label !== undefined && { label: o.label }),
    // Networks are taken as a whole: those that were not named are the old node's.
    ...(networks !== undefined && {
      networks: { ...(await run.server.get<NodeView>(nodePath(name))).networks, ...networks },
    }),
  };
  const node = await run.server.post<NodeView>(`${nodePath(name)}/replace`, request);
  await run.print.done(node, node.name, `${node.name} stands in the place of ${name}`);
}

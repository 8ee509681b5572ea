import type { Command } from 'commander';
import type { NodeView, PowerDevice } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { wholeNumber } from '../input/numbers.js';
import { readPassword, type PasswordOptions } from '../input/password.js';
import type { View } from '../output/printer.js';
import { edit } from '../server/edit.js';
import { nodePath } from './fetch-nodes.js';
import { changedDevice, withDevice, withoutDevice, type DeviceChange } from './power-levels.js';
import { testPower } from './power.js';

interface DeviceOptions extends PasswordOptions {
  driver?: string;
  address?: string;
  port?: string;
  username?: string;
  level?: string;
  option?: string[];
  shared?: boolean;
}

export function powerDeviceCommands(node: Command): void {
  const device = examples(
    node.command('power-device').description('by what a node is switched off'),
    'node power-device list host1-SN1',
    'node power-device test host1-SN1',
  );
  examples(
    does(device.command('list <name>').description('the devices of a node, level by level'), list),
    'node power-device list host1-SN1',
  );
  examples(
    does(deviceOptions(device.command('add <name> <id>').description('give a node a power device'), true), add),
    'node power-device add host1-SN1 bmc --driver ipmitool --address 10.2.0.11 --username admin --password-file bmc.pw',
    '$ pass bmc/host1 | muster node power-device add host1-SN1 pdu --driver ipmitool --address 10.2.0.9 --level 2 --password-stdin',
  );
  examples(
    does(
      deviceOptions(device.command('set <name> <id>').description('change a device; what is not named stays'), false),
      set,
    ),
    'node power-device set host1-SN1 bmc --address 10.2.0.12 --password-file bmc.pw',
    'node power-device set host1-SN1 bmc --password-file new.pw',
  );
  examples(
    does(device.command('remove <name> <id>').description('take a device away, and forget its password'), remove),
    'node power-device remove host1-SN1 pdu',
  );
  examples(
    does(
      device
        .command('test <name> [id]')
        .description(
          'read the power through each device, or one, and whose it is; exit 1 where that fails or it is another’s',
        ),
      testPower,
    ),
    'node power-device test host1-SN1',
  );
  examples(
    does(
      device
        .command('acknowledge <name> <id>')
        .description("answer for a device that says that it is another machine's: the node is fenced by it again")
        .requiredOption('--reason <text>', 'why; kept with the node'),
      acknowledge,
    ),
    'node power-device acknowledge host1-SN1 bmc --reason "its board came from host3"',
  );
}

async function acknowledge(run: Run, name: string, id: string, o: { reason: string }): Promise<void> {
  const path = `${nodePath(name)}/power-devices/${encodeURIComponent(id)}/acknowledge`;
  const node = await run.server.post<NodeView>(path, { reason: o.reason });
  await run.print.done(node, name, `${name}: ${id} is fenced by again, as one that is not proven`);
}

function deviceOptions(command: Command, mandatory: boolean): Command {
  const need = (flags: string, description: string): Command =>
    mandatory ? command.requiredOption(flags, description) : command.option(flags, description);
  need('--driver <driver>', 'how it is spoken to: ipmitool');
  need('--address <address>', 'where it listens');
  return command
    .option('--port <port>', 'another than the usual one of its driver')
    .option('--username <name>', 'user of the device')
    .option('--password-file <file>', 'file that holds the password; - is stdin')
    .option('--password-stdin', 'read the password from stdin')
    .option(
      '--option <key=value>',
      "an option of the driver's own; may be repeated",
      (o, all: string[] | undefined) => [...(all ?? []), o],
    )
    .option('--level <number>', 'fencing level, from 1: all devices of a level must be off')
    .option('--shared', 'another node has the same outlet, and says so too: an off reaches both');
}

async function add(run: Run, name: string, id: string, o: DeviceOptions): Promise<void> {
  const device = await toChange(run, o);
  const { driver = '', address = '' } = o;
  await change(run, name, (levels) => withDevice(levels, id, { ...device, driver, address }), `${id} is added`);
}

async function set(run: Run, name: string, id: string, o: DeviceOptions): Promise<void> {
  const wanted = await toChange(run, o);
  if (Object.keys(wanted).length === 0) throw new UsageFailure('nothing to change is named');
  await change(run, name, (levels) => changedDevice(levels, id, wanted), `${id} is changed`);
}

const remove = (run: Run, name: string, id: string): Promise<void> =>
  change(run, name, (levels) => withoutDevice(levels, id), `${id} is taken away`);

async function change(run: Run, name: string, to: (levels: PowerDevice[][]) => unknown, word: string): Promise<void> {
  const node = await edit<NodeView>(run.server, nodePath(name), (now) => ({ powerLevels: to(now.powerLevels) }));
  await run.print.done(node, name, `${name}: ${word}`);
}

async function toChange(run: Run, o: DeviceOptions): Promise<DeviceChange> {
  const options = Object.fromEntries((o.option ?? []).map(keyValue));
  const plain = {
    ...(o.driver !== undefined && { driver: o.driver }),
    ...(o.address !== undefined && { address: o.address }),
    ...(o.port !== undefined && { port: wholeNumber('--port', o.port, 1) }),
    ...(o.username !== undefined && { username: o.username }),
    ...(o.level !== undefined && { level: wholeNumber('--level', o.level, 1) }),
    ...(o.option !== undefined && { options }),
    ...(o.shared === true && { shared: true }),
  };
  return { ...plain, ...(await readPassword(run.io, o)) };
}

function keyValue(text: string): [string, string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new UsageFailure(`--option ${text}: write key=value`);
  return [key, value];
}

const view: View<PowerDevice & { level: number }> = {
  name: (d) => d.id,
  head: ['DEVICE', 'LEVEL', 'DRIVER', 'ADDRESS', 'USER', 'PASSWORD'],
  row: (d) => [
    d.id,
    String(d.level),
    d.driver,
    `${d.address}${d.port === undefined ? '' : `:${d.port}`}`,
    d.username ?? '-',
    d.secret === undefined ? 'none' : 'stored',
  ],
  none: 'no power devices',
};

async function list(run: Run, name: string): Promise<void> {
  const { powerLevels } = await run.server.get<NodeView>(nodePath(name));
  await run.print.list(
    powerLevels.flatMap((level, i) => level.map((d) => ({ level: i + 1, ...d }))),
    view,
  );
}

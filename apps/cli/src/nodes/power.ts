import type { Command } from 'commander';
import type { IdentifiedDevice, PowerActionRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { askAboutWorkloads } from '../input/workloads-at-stake.js';
import type { View } from '../output/printer.js';
import { awaitIncident, WAIT } from './await-incident.js';
import { nodePath } from './fetch-nodes.js';
import { identityText } from './identity-text.js';

type Action = PowerActionRequest['action'];

interface DevicePower {
  id: string;
  power: 'on' | 'off' | 'unknown';
  code?: string;
  detail?: string;
}

const actions: Record<Action, string> = {
  on: 'switch a node on',
  off: 'fence a node by hand: off with proof, its workloads start elsewhere',
  soft: 'ask its system to shut down',
  cycle: 'off with proof, then on',
};

const powerPath = (name: string): string => `${nodePath(name)}/power`;

export function powerCommands(node: Command): void {
  const power = examples(
    node.command('power').description('switch a node, by the same guard and audit as a fencing'),
    'node power status host1-SN1',
    'node power cycle host1-SN1 --reason "new memory"',
  );
  for (const [action, description] of Object.entries(actions) as [Action, string][]) {
    const command = power
      .command(`${action} <name>`)
      .description(description)
      .requiredOption('--reason <text>', 'why; kept with the node');
    if (action !== 'on') command.option('--yes', 'do not ask, also where workloads run there');
    if (action === 'off' || action === 'cycle') command.option(...WAIT);
    examples(
      does(command, (run, name: string, o: ActOptions) => act(run, action, name, o)),
      `node power ${action} host1-SN1 --reason "new memory"`,
    );
  }
  examples(
    does(power.command('status <name>').description('what its power devices read'), status),
    'node power status host1-SN1',
  );
}

interface ActOptions {
  reason: string;
  yes?: boolean;
  wait?: boolean;
}

async function act(run: Run, action: Action, name: string, o: ActOptions): Promise<void> {
  if (action !== 'on') await askAboutWorkloads(run, `power ${action} ${name}`, [name], o.yes === true);
  const request: PowerActionRequest = { action, reason: o.reason };
  const answer = await run.server.post<{ incident?: string; power?: string }>(powerPath(name), request);
  const { incident, power } = answer;
  if (o.wait === true && incident !== undefined) return awaitIncident(run, name, incident);
  if (await run.print.machine(answer, [incident ?? name])) return;
  // Accepted is not off: the incident tells whether it came to that.
  if (incident !== undefined) run.terminal.line(`${name}: incident: ${incident} (muster incident get ${name})`);
  else if (run.terminal.interactive)
    run.terminal.line(`${name}: ${action} accepted${power === undefined ? '' : `: power is ${power}`}`);
}

const view = (run: Run): View<DevicePower> => ({
  name: (d) => d.id,
  head: ['DEVICE', 'POWER', 'DETAIL'],
  row: (d) => [
    d.id,
    run.terminal.paint(d.power === 'on' ? 'green' : d.power === 'off' ? 'yellow' : 'red', d.power),
    [d.code, d.detail].filter((x) => x !== undefined).join(': '),
  ],
  none: 'no power devices',
});

interface TestedDevice extends DevicePower {
  identity: IdentifiedDevice | undefined;
}

const testView = (run: Run): View<TestedDevice> => {
  const plain = view(run);
  return {
    ...plain,
    name: (d) => d.id,
    head: ['DEVICE', 'POWER', 'IDENTITY', 'DETAIL'],
    row: (d) => {
      const [id = '', power = '', detail = ''] = plain.row(d);
      return [id, power, whoseText(run, d.identity), [detail, ...neighbourText(d.identity)].filter(Boolean).join('; ')];
    },
  };
};

function whoseText(run: Run, d: IdentifiedDevice | undefined): string {
  if (d === undefined) return '-';
  const word = identityText(d.standing, d.identity, run.terminal);
  return d.standing === 'mismatch' ? run.terminal.paint('red', word) : word;
}

const neighbourText = (d: IdentifiedDevice | undefined): string[] =>
  d?.neighbours === undefined
    ? []
    : [
        `same address as ${d.neighbours
          .map((n) => `${n.device} of ${n.node}`)
          .slice(0, 3)
          .join(', ')}${d.neighbours.length > 3 ? ` and ${d.neighbours.length - 3} more` : ''}`,
      ];

async function status(run: Run, name: string): Promise<void> {
  await run.print.list(await read(run, name), view(run));
}

const read = async (run: Run, name: string): Promise<DevicePower[]> =>
  (await run.server.get<{ devices: DevicePower[] }>(powerPath(name))).devices;

/** @throws Failure where a device, or the one that was named, does not say on or off */
export async function testPower(run: Run, name: string, id: string | undefined): Promise<void> {
  const all = await read(run, name);
  const devices = id === undefined ? all : all.filter((d) => d.id === id);
  if (devices.length === 0)
    throw new Failure(id === undefined ? `${name} has no power devices` : `${name} has no power device "${id}"`);
  const whose = await run.server.post<{ devices: IdentifiedDevice[] }>(`${nodePath(name)}/identify`, {});
  const identified = new Map(whose.devices.map((d) => [d.id, d]));
  await run.print.list(
    devices.map((d) => ({ ...d, identity: identified.get(d.id) })),
    testView(run),
  );
  const foreign = devices.filter((d) => identified.get(d.id)?.standing === 'mismatch');
  if (foreign.length > 0)
    throw new Failure(
      `${name}: ${foreign.map((d) => `${d.id} is another machine's: ${identified.get(d.id)?.identity?.why ?? ''}`).join('; ')}; correct the wiring or the address, or answer for it (muster node power-device acknowledge)`,
    );
  const silent = devices.filter((d) => d.power === 'unknown').map((d) => d.id);
  if (silent.length > 0) throw new Failure(`${name}: the power cannot be read through ${silent.join(', ')}`);
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { MusterError, type NodeView } from '#contracts';
import { Api } from '../fleet/api.js';
import type { Fleet } from '../fleet/fleet.js';
import { withFleet } from '../fleet/with-fleet.js';
import { bestMode, whyNoNamespaces } from '../mode.js';
import { act1, act2 } from './acts.js';
import { deviations, Goals, type DemoResult, type Seen, type Step } from './story.js';

interface Options {
  nodes: number;
  mode: 'netns' | 'loopback';
  seed: number;
  json: boolean;
  keep: boolean;
  stay: boolean;
  /** Folder of the lab. @default one of its own, that goes when all went well */
  dir?: string;
  nats?: string[];
  http?: string[];
  creds?: string;
  token?: string;
  sshKey?: string;
}

const CUT_MS = 10_000;
const WORKLOADS = ['ledger-a', 'ledger-b'];

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const n = Number(text);
    if (!Number.isInteger(n) || n < least || n > most)
      throw new InvalidArgumentError(`a whole number from ${least} to ${most} is wanted`);
    return n;
  };

const examples = `
Examples:
  npm run demo
  npm run -s demo -- --json --seed 7
  npm run demo -- --nodes 8 --keep
  npm run demo -- --http http://127.0.0.1:9007 --nats nats://10.77.1.1:4222 nats://10.77.2.1:4222 \\
    --creds /etc/muster --token token --ssh-key /etc/muster/ssh/id_ed25519`;

function readOptions(argv: string[]): Options {
  const command = new Command('demo')
    .description('A fleet on this machine: a host dies with work on it and comes back; another only loses a network.')
    .option('--nodes <n>', 'hosts', whole(3, 32), 5)
    .option('--mode <mode>', 'netns (root: real networks) or loopback', bestMode())
    .option('--seed <n>', 'chooses the victim', whole(0, 2 ** 31), Math.floor(Math.random() * 1e6))
    .option('--json', 'the result as one JSON line at the end; the story goes to stderr', false)
    .option('--keep', 'leave the lab running', false)
    .option(
      '--stay',
      'when the story is told, stay with the lab up until SIGINT or SIGTERM, and then take it down',
      false,
    )
    .option('--dir <folder>', "of the lab, absent or empty; default: one below the system's folder for such things")
    .option('--http <url...>', 'on a Muster that runs already and has no nodes: its gateways; its fencing is enforced')
    .option('--nats <url...>', 'with --http: as lab up --control external has it, and so the next three')
    .option('--creds <folder>', 'with --http: that its muster init has written')
    .option('--token <file>', "with --http: with an admin's token")
    .option('--ssh-key <file>', 'with --http: of its provisioner, with .pub beside it')
    .addHelpText('after', examples)
    .exitOverride();
  const o = command.parse(argv, { from: 'user' }).opts<Options>();
  if (o.mode !== 'netns' && o.mode !== 'loopback') command.error(`error: no mode ${String(o.mode)}: netns or loopback`);
  if (o.stay && o.json) command.error('error: --stay has no end at which --json could tell');
  const why = o.mode === 'netns' ? whyNoNamespaces() : undefined;
  if (why !== undefined) command.error(`error: mode netns: ${why}; without it: --mode loopback`);
  const { http, nats, creds, token, sshKey } = o;
  const lone = Object.entries({ nats, creds, token, 'ssh-key': sshKey }).find(([, given]) => given !== undefined);
  if (http === undefined && lone !== undefined) command.error(`error: --${lone[0]} goes with --http`);
  return o;
}

/** What `lab up` is told of a Muster that runs already. */
function externalOptions({ http, nats, creds, token, sshKey }: Options): string[] {
  if (http === undefined) return [];
  const given = { nats, http, creds, token, 'ssh-key': sshKey };
  const options = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, ...[value].flat()],
  );
  return ['--control', 'external', ...options];
}

/** Its dead are to be powered off. FORBIDDEN where it has nodes: a host of the demo is no company for real ones. */
async function prepareExternal({ http, token }: Options): Promise<void> {
  if (http === undefined) return;
  const api = new Api(http, token === undefined ? undefined : readFileSync(token, 'utf8').trim());
  const [node] = await api.all<NodeView>('/v1/nodes');
  if (node !== undefined)
    throw new MusterError('FORBIDDEN', `that Muster has nodes (${node.name} …): the demo is for one that has none`);
  await api.put('/v1/fencing', { mode: 'enforce' });
}

type Say = (line: string) => void;

async function play(fleet: Fleet, o: Options, seen: Seen, since: number, say: Say): Promise<void> {
  // host1 is the only master: a fleet must not lose it in a demo of one failure.
  const victim = `host${2 + (o.seed % (o.nodes - 1))}`;
  const other = `host${2 + ((o.seed + 1) % (o.nodes - 1))}`;
  for (const w of WORKLOADS) await fleet.lab('workload', 'add', w, '--on', victim);
  await fleet.heal();
  say(`  up in ${((performance.now() - since) / 1000).toFixed(1)} s; ${WORKLOADS.join(' and ')} run on ${victim}`);

  say('\nAct 1: a host dies with work on it');
  await act1(fleet, victim, seen, (step: Step, ms: number, words: string) => {
    const goal = Goals[step];
    const mark = goal === undefined ? '' : ms <= goal ? `  (goal ${goal} ms: met)` : `  (goal ${goal} ms: MISSED)`;
    say(`  ${`${(ms / 1000).toFixed(2)} s`.padStart(9)}  ${step.padEnd(18)} ${words}${mark}`);
  });
  for (const w of seen.workloads)
    say(`             ${w.name}: ${w.from} → ${w.to}, gap ${w.gap_ms} ms, overlap ${w.overlap_ms} ms`);

  if (o.mode === 'netns') {
    say('\nAct 2: another host only loses its management network');
    seen.act2 = await act2(fleet, other, CUT_MS, (words) => say(`  ${words}`));
  } else say('\nAct 2 cuts a network, which needs root and namespaces: left out');

  await fleet.heal();
  if (o.creds !== undefined && !existsSync(join(o.creds, 'creds', 'inventory.json'))) {
    say('\nThe audit reads the store, for which it needs the users of the installation: left out');
    return;
  }
  const { ok, violations } = await fleet.audit();
  seen.audit = { ok, violations };
  say(
    `\nAudit: ${ok ? 'nothing ran twice, nothing was written to a BMC without an intent, nothing is left over' : 'FAILED'}`,
  );
}

/** The whole demo. Whatever breaks it off, what was seen until then is in the result. */
async function demo(o: Options, say: Say): Promise<DemoResult> {
  const since = performance.now();
  say(`Muster demo: ${o.nodes} hosts, mode ${o.mode}, seed ${o.seed}`);
  const seen: Seen = {
    mode: o.mode,
    seed: o.seed,
    nodes: o.nodes,
    external: o.http !== undefined,
    timeline: [],
    workloads: [],
    bmc: { off_commands: 0 },
    act2: null,
    audit: null,
  };
  let wrong: string[] = [];
  const tell = (): void => {
    for (const d of wrong) say(`  deviation: ${d}`);
    say(wrong.length === 0 ? `ok, ${((performance.now() - since) / 1000).toFixed(0)} s in all` : 'NOT ok');
  };
  const fleet = {
    name: 'demo',
    nodes: o.nodes,
    mode: o.mode,
    ...(o.dir !== undefined && { dir: o.dir }),
    up: externalOptions(o),
    onProgress: (l: string) => say(`  ${l}`),
    say,
    keep: () => o.keep,
    failed: () => wrong.length > 0,
  };
  try {
    await prepareExternal(o);
    await withFleet(fleet, async (f) => {
      await play(f, o, seen, since, say);
      wrong = deviations(seen);
      if (!o.stay) return;
      tell();
      say('\nThe fleet stays up until this process is told to end');
      await untilEnded();
    });
  } catch (e) {
    wrong = [e instanceof Error ? e.message : String(e)];
  }
  tell();
  return { ok: wrong.length === 0, ...seen, deviations: wrong };
}

/** Never resolves: a signal takes the lab down and ends the process. */
const untilEnded = (): Promise<never> => new Promise(() => void setInterval(() => undefined, 2 ** 30));

async function main(): Promise<number> {
  const o = readOptions(process.argv.slice(2));
  const say: Say = (line) => void (o.json ? process.stderr : process.stdout).write(`${line}\n`);
  const result = await demo(o, say);
  if (o.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  return result.ok ? 0 : 1;
}

main().then(
  (code) => (process.exitCode = code),
  (e: unknown) => {
    if (e instanceof CommanderError) {
      process.exitCode = e.exitCode === 0 ? 0 : 2;
      return;
    }
    process.stderr.write(`demo: ${e instanceof Error ? e.message : String(e)}\n`);
    process.exitCode = 1;
  },
);

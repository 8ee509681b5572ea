import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { systemClock } from '#bus';
import { daemon, type Daemon } from '../../libs/bus/src/testing/daemon.js';
import type { LabInfo } from '../../lab/src/info.js';
import { Hopeless, until } from '../../lab/src/until.js';
import { blocksOf, placeOf, withValues, type Block } from './quickstart/blocks.js';
import { PAGES, type SceneName } from './quickstart/pages.js';

const USAGE = `usage: npm run quickstart [-- --json]
  The code blocks of README.md and docs/install.md, as they stand there, on parts of the lab: hosts with sshd and a BMC in
  network namespaces, and a control machine in another. As root. Exit 0 when each has ended well, or says why it is not run.
  Ctrl-C ends what runs, and takes the lab down; exit 130.
  --json   one line of JSON at the end`;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const LAB = join(root, 'dist', 'lab', 'src', 'main.js');
/** Of one block, ms: to build, or to set hosts up, takes minutes on a busy machine. */
const BLOCK_MS = 900_000;
/** Until one that was told to end has ended, ms. */
const END_MS = 30_000;
/** Nodes of the pages. */
const NODES = 3;

/** Ctrl-C, or SIGTERM. */
const interruption = new AbortController();
const interrupted = interruption.signal;

const say = (line: string): void => void process.stderr.write(`quickstart: ${line}\n`);

interface Outcome {
  block: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, or what it said last. */
  why?: string;
  seconds?: number;
}

/** Where blocks run: what their pages call by the names of readers, and the network that they run in. */
interface Stage {
  values: Record<string, string>;
  enter: string[];
  env: Record<string, string>;
}

/** The lab's command line. */
const lab = (dir: string, ...args: string[]) =>
  execa(process.execPath, [LAB, ...args, '--dir', dir], { reject: false, all: true });

/** What the pages call 10.0.0.1, host1-SN1 and so on. The lab's first host has an agent already: it is none of them. */
function stageOf(info: LabInfo): Stage {
  const [control] = info.controls;
  if (control?.netns === undefined) throw new Error('the lab has no namespace for its control host');
  const values: Record<string, string> = {
    '10.0.0.1': control.networks.management,
    '10.1.0.1': control.networks.backend,
    '10.1.0.0/16': `${control.networks.backend.replace(/\.\d+$/, '.0')}/24`,
    '/root/.ssh/id_ed25519': info.hosts[0]!.ssh.key,
    admin: 'muster',
  };
  info.hosts.slice(1).forEach((host, i) => {
    const n = i + 1;
    values[`10.0.0.${10 + n}`] = host.networks.management;
    values[`10.1.0.${10 + n}`] = host.networks.backend;
    values[`10.2.0.${10 + n}`] = `${host.bmc.address} --port ${host.bmc.port}`;
    values[`host${n}-SN${n}`] = host.node;
  });
  return {
    values,
    enter: ['nsenter', `--net=/run/netns/${control.netns}`],
    env: { BMC_PASSWORD: readFileSync(info.bmcPassword, 'utf8').trim() },
  };
}

/** This project under another name: what a block makes in it is not in ours. */
function checkout(at: string): void {
  mkdirSync(at);
  for (const name of readdirSync(root))
    if (!['.git', '.lab', '.muster'].includes(name)) symlinkSync(join(root, name), join(at, name));
}

/** The blocks of one scene, in their order; the first that fails is the last. */
async function play(page: string, scene: SceneName, blocks: readonly Block[], stage: Stage): Promise<Outcome[]> {
  const dir = mkdtempSync(join(tmpdir(), 'muster-quickstart-'));
  const at = join(dir, 'muster');
  checkout(at);
  const npm = join(dir, 'npm');
  const env = {
    ...process.env,
    ...stage.env,
    npm_config_prefix: npm,
    PATH: `${join(npm, 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  const running = new Set<Daemon>();
  const endAll = (): Promise<unknown> => Promise.all([...running].map(end));
  const endNow = (): void => void endAll();
  interrupted.addEventListener('abort', endNow);
  const outcomes: Outcome[] = [];
  try {
    for (const [i, block] of blocks.entries()) {
      interrupted.throwIfAborted();
      say(`${placeOf(block)} (${page}, ${scene}, ${i + 1} of ${blocks.length})`);
      const began = performance.now();
      const why = await runBlock(block, stage, { cwd: at, env, log: join(dir, `${i}.log`), running });
      interrupted.throwIfAborted();
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      outcomes.push({
        block: placeOf(block),
        seconds,
        ...(why === undefined ? { outcome: 'passed' } : { outcome: 'failed', why }),
      });
      if (why !== undefined) {
        const rest = blocks.slice(i + 1);
        outcomes.push(
          ...rest.map((b): Outcome => ({ block: placeOf(b), outcome: 'skipped', why: 'an earlier one failed' })),
        );
        break;
      }
    }
  } finally {
    interrupted.removeEventListener('abort', endNow);
    await endAll();
    rmSync(dir, { recursive: true, force: true });
  }
  return outcomes;
}

/** To all that a block has started. */
function signal({ pid }: Daemon, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ESRCH') throw e;
  }
}

/** As Ctrl-C does. What does not end within 30 s is killed. */
async function end(block: Daemon): Promise<void> {
  signal(block, 'SIGINT');
  const late = systemClock.after(END_MS, () => signal(block, 'SIGKILL'));
  await block;
  late.cancel();
}

interface Running {
  cwd: string;
  env: NodeJS.ProcessEnv;
  log: string;
  /** Blocks that run, each a process group. */
  running: Set<Daemon>;
}

/** @returns why it did not end well; undefined: it did, or it stays, and is ready */
async function runBlock(block: Block, stage: Stage, o: Running): Promise<string | undefined> {
  const text = withValues(block.text, stage.values);
  const [command, ...args] = [...stage.enter, 'bash', '-euo', 'pipefail', '-c', text];
  const wanted = block.runner !== undefined && 'scene' in block.runner ? block.runner.until : undefined;
  const said = (): string => (existsSync(o.log) ? readFileSync(o.log, 'utf8') : '');
  const last = (): string => said().trim().split('\n').slice(-12).join('\n');
  const output = { file: o.log, append: true } as const;
  const options = { cwd: o.cwd, env: o.env, stdin: 'ignore', stdout: output, stderr: output, detached: true } as const;
  const started = daemon(command, args, options);
  o.running.add(started);
  let ended: string | undefined;
  const ending = Promise.resolve(started).then(({ exitCode, signal: by }) => {
    ended = exitCode === undefined ? `ended by ${by}` : `exit code ${exitCode}`;
    o.running.delete(started);
  });
  if (wanted === undefined) {
    let late = '';
    const limit = systemClock.after(BLOCK_MS, () => {
      late = `not done after ${BLOCK_MS / 1000} s, `;
      signal(started, 'SIGKILL');
    });
    await ending;
    limit.cancel();
    return ended === 'exit code 0' ? undefined : `${late}${ended}: ${last()}`;
  }
  const isReady = (): true | undefined => {
    if (said().includes(wanted)) return true;
    if (ended !== undefined) throw new Hopeless(new Error(ended));
    return undefined;
  };
  return await until(`"${wanted}"`, BLOCK_MS, isReady, 100).then(
    () => undefined,
    (e: unknown) => `${(e as Error).message}: ${last()}`,
  );
}

async function onLab(scenes: (stage: Stage) => Promise<Outcome[]>): Promise<Outcome[]> {
  const dir = mkdtempSync(join(tmpdir(), 'muster-quickstart-lab-'));
  const folder = join(dir, 'lab');
  const up = await lab(folder, 'up', '--mode', 'netns', '--hosts-only', '--nodes', '1', '--bare', String(NODES));
  try {
    interrupted.throwIfAborted();
    if (up.exitCode !== 0) throw new Error(`the lab did not start: ${up.all}`);
    const { stdout } = await lab(folder, 'info', '--json');
    return await scenes(stageOf(JSON.parse(stdout) as LabInfo));
  } finally {
    const down = await lab(folder, 'down', '--purge');
    if (down.exitCode === 0) rmSync(dir, { recursive: true, force: true });
    else say(`the lab in ${folder} could not be taken down: ${down.all}`);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) return void process.stdout.write(`${USAGE}\n`);
  const outcomes: Outcome[] = [];
  const scenes: { page: string; scene: SceneName; blocks: Block[] }[] = [];
  for (const page of PAGES)
    for (const block of blocksOf(page, readFileSync(join(root, page), 'utf8'))) {
      const { runner } = block;
      if (runner === undefined)
        outcomes.push({ block: placeOf(block), outcome: 'failed', why: 'nobody says who runs it' });
      else if ('skipped' in runner) outcomes.push({ block: placeOf(block), outcome: 'skipped', why: runner.skipped });
      else {
        const found = scenes.find((s) => s.page === page && s.scene === runner.scene);
        if (found) found.blocks.push(block);
        else scenes.push({ page, scene: runner.scene as SceneName, blocks: [block] });
      }
    }
  if (process.getuid?.() === 0)
    outcomes.push(
      ...(await onLab(async (stage) => {
        const played: Outcome[] = [];
        for (const { page, scene, blocks } of scenes) played.push(...(await play(page, scene, blocks, stage)));
        return played;
      })),
    );
  else
    for (const { blocks } of scenes)
      outcomes.push(
        ...blocks.map((b): Outcome => ({ block: placeOf(b), outcome: 'skipped', why: 'namespaces need root' })),
      );
  for (const { block, outcome, why, seconds } of outcomes)
    say(`${outcome} ${block}${seconds === undefined ? '' : ` in ${seconds} s`}${why === undefined ? '' : `: ${why}`}`);
  const count = (of: Outcome['outcome']): number => outcomes.filter((o) => o.outcome === of).length;
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  say(
    Object.entries(counts)
      .map(([what, n]) => `${n} ${what}`)
      .join(', '),
  );
  if (values.json === true) process.stdout.write(`${JSON.stringify({ ...counts, blocks: outcomes })}\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

const interrupt = (name: NodeJS.Signals): void => {
  say(`${name}: ending what runs, and taking the lab down`);
  interruption.abort();
};
process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
try {
  await main();
} catch (e) {
  if (!interrupted.aborted) throw e;
  process.exitCode = 130;
}

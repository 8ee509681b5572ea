import { Command, CommanderError } from 'commander';
import { MusterError } from '#contracts';
import { LabFolder } from '../folder.js';
import { hostOf, type HostPlan, type LabPlan } from '../plan.js';
import { Processes } from '../processes.js';

/** Where a command's words go. */
export interface Words {
  out: (text: string) => void;
  err: (text: string) => void;
}

/** What every command of the lab has at hand. */
export interface Cli {
  program: Command;
  /** The answer is to be JSON. */
  readonly json: boolean;
  folder: () => LabFolder;
  /** A line of progress, or of what went wrong. */
  say: (line: string) => void;
  /** One line of JSON where that was asked for, else the text. */
  answer: (value: unknown, text?: string) => void;
  /** @default 0 */
  exitCode: (code: number) => void;
  /** A lab that runs, and the host that a command is about. NODE_UNKNOWN */
  at: (name: string) => { lab: LabFolder; plan: LabPlan; host: HostPlan; processes: Processes };
  /** The moment of a fault: CLOCK_MONOTONIC ns, and wall clock ms. */
  now: () => { ns: number; at: number };
}

/**
 * Runs one command line, and answers its exit code: 0 done, 1 failed, 2 wrong usage or no root. Nothing is left of it in
 * this process, so that many can run in one, also at once.
 */
export async function runCli(args: readonly string[], words: Words, add: (cli: Cli) => void): Promise<number> {
  let code = 0;
  const program = new Command('lab')
    .description('a fleet on this machine: hosts with real agents, real BMCs, real ssh, and faults on command')
    .option('--dir <folder>', 'everything that the lab writes is in it', '.lab')
    .option('--json', 'one line of JSON on stdout')
    .configureOutput({ writeOut: words.out, writeErr: words.err })
    .exitOverride()
    .showHelpAfterError('(lab --help shows every command)');
  const folder = (): LabFolder => new LabFolder(program.opts<{ dir: string }>().dir);
  const cli: Cli = {
    program,
    get json() {
      return program.opts<{ json?: boolean }>().json === true;
    },
    folder,
    say: (line) => words.err(`${line}\n`),
    answer: (value, text) => {
      if (cli.json) words.out(`${JSON.stringify(value)}\n`);
      else if (text !== undefined) words.out(`${text}\n`);
    },
    exitCode: (given) => (code = given),
    at: (name) => {
      const lab = folder();
      lab.running();
      const plan = lab.plan();
      return { lab, plan, host: hostOf(plan, name), processes: new Processes(lab) };
    },
    now: () => ({ ns: Number(process.hrtime.bigint()), at: Date.now() }),
  };
  add(cli);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (e) {
    if (e instanceof CommanderError) return e.exitCode === 0 ? 0 : 2;
    const error = MusterError.from(e);
    if (cli.json) words.out(`${JSON.stringify({ ok: false, code: error.code, message: error.message })}\n`);
    cli.say(`lab: ${error.message}`);
    return ['BAD_REQUEST', 'FORBIDDEN', 'NODE_UNKNOWN'].includes(error.code) ? 2 : 1;
  }
}

import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { oneLine } from '../output/one-line.js';
import type { Terminal } from '../output/terminal.js';
import { agentFindings } from './agents.js';
import { fileFindings } from './files.js';
import { exitCodeOf, FindingStates, unknown, worstFirst, type Asked, type Finding } from './finding.js';
import { askServer, type ServerFacts } from './gather.js';
import { localFacts } from './local-files.js';
import { natsFindings } from './nats.js';
import { powerFindings, sshFindings } from './power.js';
import { stormFindings } from './storm.js';
import { tokenFindings } from './tokens.js';
import { workerFindings } from './workers.js';

interface DoctorOptions {
  dir?: string;
  all?: boolean;
  power: boolean;
}

export function doctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('looks at all that must be right before a node dies, and says what to do about what is not')
    .option(
      '--dir <folder>',
      'installation whose files are looked at; by default MUSTER_CONFIG’s, /etc/muster or .muster',
    )
    .option('--no-power', 'do not read power devices')
    .option('--all', 'on a terminal, too, each line that is well')
    .addHelpText(
      'after',
      '\nNothing is changed; each power device is read once. A line is ok, skipped (it does not apply here), unknown (it could\nnot be looked at, which is not well), warn or bad, and says behind an arrow what to do.\n\nExit code: 0 all is well · 1 something is to be looked at, or unknown · 2 something is broken',
    );
  examples(does(command, doctor), 'doctor', 'doctor --json | jq .findings', 'doctor --dir /etc/muster --no-power');
}

async function doctor(run: Run, o: DoctorOptions): Promise<number> {
  const facts = await askServer(run.server, { power: o.power });
  const now = Date.now();
  const findings = worstFirst([...findingsOf(facts, now), ...fileFindings(localFacts(o.dir, run.io.env), now)]);
  const code = exitCodeOf(findings);
  if (!(await run.print.machine({ exitCode: code, findings })))
    for (const line of screen(findings, run.terminal, o.all === true || !run.terminal.interactive))
      run.terminal.line(line);
  return code;
}

/** @param now wall clock, ms */
function findingsOf(f: ServerFacts, now: number): Finding[] {
  const bus = 'failed' in f.diagnosis ? f.diagnosis : { value: f.diagnosis.value.bus };
  return [
    ...natsFindings(bus),
    ...('failed' in f.nodes
      ? ['bmc.answer', 'bmc.identity', 'bmc.drill', 'ssh.login'].map((check) => notAsked(check, f.nodes))
      : [...powerFindings(f.nodes.value, f.reads, now), ...sshFindings(f.nodes.value, now)]),
    ...agentFindings(f.diagnosis),
    ...workerFindings(f.status),
    ...stormFindings(f.settings, f.diagnosis),
    ...tokenFindings(f.tokens, f.agentTokens, f.key, now),
  ];
}

const notAsked = (check: string, asked: Asked<unknown>): Finding =>
  unknown(check, 'nodes', 'failed' in asked ? asked.failed : '', 'muster status');

const COLOURS = { ok: 'green', skipped: 'dim', unknown: 'yellow', warn: 'yellow', bad: 'red' } as const;

/** A line each; on a terminal what is well is told as a number, unless all is wanted. */
function screen(findings: readonly Finding[], t: Terminal, all: boolean): string[] {
  const quiet = (f: Finding): boolean => f.state === 'ok' || f.state === 'skipped';
  const shown = findings.filter((f) => all || !quiet(f));
  const counts = [...FindingStates]
    .reverse()
    .map((state) => ({ state, n: findings.filter((f) => f.state === state).length }))
    .filter(({ n }) => n > 0)
    .map(({ state, n }) => t.paint(COLOURS[state], `${n} ${state}`));
  return [
    ...shown.map((f) => {
      const state = t.paint(COLOURS[f.state], f.state.padEnd(7));
      const todo = f.remedy === undefined ? '' : ` → ${f.remedy}`;
      return oneLine(`${state} ${f.check.padEnd(13)} ${f.subject}: ${f.text}${todo}`);
    }),
    `doctor: ${counts.join(', ')}`,
  ];
}

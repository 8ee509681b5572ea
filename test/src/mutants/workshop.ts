import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import ts from 'typescript';
import { GREEN, simOutcome, specOutcome, type SpecReport, type Kill, type Outcome } from './outcome.js';
import { trialBySim } from './sim-trial.js';

const PARTS = [
  'apps',
  'libs',
  'lab',
  'bench',
  'sim',
  'test',
  'scripts',
  'playbooks',
  'docs',
  'examples',
  'package.json',
  'vitest.config.js',
  'tsconfig.json',
];
/** Of one spec file or one simulation: it ends what hangs. */
const LONGEST_MS = 300_000;
/** Of one test or hook. */
const LONGEST_TEST_MS = 60_000;
const SEED = 1;

/** A copy of the tree in which one file at a time is broken. */
export class Workshop {
  private readonly copy = mkdtempSync(join(tmpdir(), 'muster-mutants-'));
  /** The copy has a build of its own: where nobody runs a broken file from it, it need not. */
  private built = false;
  /** Spec → why it says nothing where nothing is broken; undefined: it is green then. */
  private readonly unbroken = new Map<string, string | undefined>();
  private readonly wholeSims = new Map<string, Outcome>();

  /** @param patience all limits are so many times as long: for a busy machine */
  constructor(
    private readonly folder: string,
    private readonly patience = 1,
  ) {
    for (const part of PARTS) cpSync(join(folder, part), join(this.copy, part), { recursive: true });
    for (const part of ['node_modules', 'dist']) symlinkSync(join(folder, part), join(this.copy, part));
  }

  close(): void {
    rmSync(this.copy, { recursive: true, force: true });
  }

  read(file: string): string {
    return readFileSync(join(this.copy, file), 'utf8');
  }

  /** Specs, one after the other until one turns red. @param test only the tests that have this in their name */
  trySpecs(file: string, mutated: string, specs: readonly string[], test = ''): Outcome {
    let outcome: Outcome = { reason: 'no specs ran' };
    for (const spec of specs) {
      const guard = test === '' ? spec : `${spec} › ${test}`;
      outcome = this.guarded(guard, () => this.spec(spec, test), file, mutated);
      if ('killed' in outcome || outcome.reason !== GREEN) return outcome;
    }
    return outcome;
  }

  /** Simulations of the build in which this file is compiled anew. */
  trySims(file: string, mutated: string, sims: readonly string[]): Outcome {
    this.build();
    let outcome: Outcome = { reason: 'no simulation ran' };
    for (const sim of sims) {
      outcome = trialBySim(sim, (histories, what) =>
        what === 'broken'
          ? this.withBroken(file, mutated, () => this.sim(sim, histories))
          : this.wholeSim(sim, histories),
      );
      if ('killed' in outcome) return outcome;
    }
    return outcome;
  }

  /** With nothing broken; what is known of so many histories is not played again. */
  private wholeSim(sim: string, histories: number): Outcome {
    const key = `${sim} ${histories}`;
    const outcome = this.wholeSims.get(key) ?? this.sim(sim, histories);
    this.wholeSims.set(key, outcome);
    return outcome;
  }

  /** A guard that is red although nothing is broken kills nothing. */
  private guarded(guard: string, run: () => Outcome, file: string, mutated: string): Outcome {
    if (!this.unbroken.has(guard)) {
      const outcome = run();
      const red =
        'killed' in outcome ? `${guard} is red although nothing is broken${whyOf(outcome.killed)}` : outcome.reason;
      this.unbroken.set(guard, red === GREEN ? undefined : red);
    }
    const reason = this.unbroken.get(guard);
    return reason === undefined ? this.withBroken(file, mutated, run) : { reason };
  }

  private withBroken(file: string, mutated: string, run: () => Outcome): Outcome {
    const text = this.read(file);
    this.write(file, mutated);
    try {
      return run();
    } finally {
      this.write(file, text);
    }
  }

  private write(file: string, text: string): void {
    writeFileSync(join(this.copy, file), text);
    if (this.built) writeFileSync(join(this.copy, 'dist', file.replace(/\.ts$/, '.js')), this.compiled(text));
  }

  private compiled(text: string): string {
    const path = join(this.copy, 'tsconfig.json');
    const { options } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(path, (name) => readFileSync(name, 'utf8')).config,
      ts.sys,
      this.copy,
    );
    // `nodenext` asks for the package that the file is in; the result is the same.
    const compilerOptions = { ...options, module: ts.ModuleKind.ESNext, sourceMap: false };
    return ts.transpileModule(text, { compilerOptions }).outputText;
  }

  /** From now on the copy has a build of its own, in which each broken file is compiled anew. */
  build(): void {
    if (this.built) return;
    unlinkSync(join(this.copy, 'dist'));
    cpSync(join(this.folder, 'dist'), join(this.copy, 'dist'), { recursive: true });
    this.built = true;
  }

  private node(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): { stdout: string; stderr: string } {
    // Red is what is hoped for: how it ended stands in its report.
    const options = {
      cwd: this.copy,
      timeout: LONGEST_MS * this.patience,
      maxBuffer: 1 << 28,
      env,
      reject: false,
    } as const;
    const { stdout, stderr } = execaSync(process.execPath, args, options);
    return { stdout, stderr };
  }

  private spec(spec: string, test: string): Outcome {
    const file = join(this.copy, 'report.json');
    rmSync(file, { force: true });
    const vitest = join(this.folder, 'node_modules', 'vitest', 'vitest.mjs');
    const longestMs = LONGEST_TEST_MS * this.patience;
    const ends = [`--testTimeout=${longestMs}`, `--hookTimeout=${longestMs}`];
    const only = test === '' ? [] : ['--testNamePattern', test.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')];
    const asked = ['--reporter=./scripts/tests/report.mjs', ...ends, ...only, spec];
    this.node([vitest, 'run', ...asked], { MUSTER_SPEC_REPORT: file });
    if (!existsSync(file)) return { reason: 'the runner ended without a report' };
    return specOutcome(spec, JSON.parse(readFileSync(file, 'utf8')) as SpecReport);
  }

  private sim(name: string, histories: number): Outcome {
    const program = join('dist', 'sim', 'src', 'run-sim.js');
    const args = [name, '--histories', String(histories), '--seed', String(SEED), '--json'];
    return simOutcome(name, SEED, this.node([program, ...args]));
  }
}

const whyOf = (kill: Kill): string => ('test' in kill ? `: ${kill.test}: ${kill.why}` : '');

import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBmcLine, type BmcEntry } from '../../../lab/src/audit/bmc-log.js';
import type { AuditAnswer } from '../../../lab/src/audit/run-audit.js';
import type { DemoResult } from '../../../lab/src/demo/story.js';
import type { Composition } from './composition.js';
import { addresses, type ControlMachine } from './control-machine.js';

/** One of them is the control machine's own node: its label is MUSTER_HOST. */
export const NODES = 4;
/** Chooses host2 as the one that dies. */
const SEED = 0;

const isRefusal = (answer: unknown): answer is { code: string; message: string } =>
  typeof answer === 'object' && answer !== null && 'code' in answer && 'message' in answer;

/** Hosts of the lab, attached to the composition on the networks of its machine. */
export class LabHosts {
  private readonly dir: string;
  private readonly tokenFile: string;
  private readonly creds: string;

  /** @param dir where their files are */
  constructor(
    private readonly machine: ControlMachine,
    private readonly root: string,
    dir: string,
  ) {
    this.dir = join(dir, 'lab');
    this.tokenFile = join(dir, 'token');
    this.creds = join(dir, 'creds');
  }

  /** The demo's story on them; they stay. */
  async demo(composition: Composition, token: string): Promise<DemoResult> {
    rmSync(this.dir, { recursive: true, force: true });
    writeFileSync(this.tokenFile, token, { mode: 0o600 });
    // A copy: users that the lab adds would be root's, and the installation's own services could not read them.
    rmSync(this.creds, { recursive: true, force: true });
    cpSync(join(composition.engine.volumes, `${composition.project}_config`, '_data'), this.creds, { recursive: true });
    const muster = {
      nats: [`nats://${addresses.management}:4222`, `nats://${addresses.backend}:4222`],
      http: ['http://127.0.0.1:9007'],
      creds: [this.creds],
      token: [this.tokenFile],
      'ssh-key': [join(this.creds, 'ssh', 'id_ed25519')],
    };
    const external = Object.entries(muster).flatMap(([name, values]) => [`--${name}`, ...values]);
    const size = ['--nodes', String(NODES), '--seed', String(SEED), '--mode', 'netns'];
    const said = await this.program('lab/src/demo/main.js', [
      ...size,
      ...['--json', '--keep', '--dir', this.dir],
      ...external,
    ]);
    return JSON.parse(said.trim().split('\n').at(-1) ?? '') as DemoResult;
  }

  /** A command of the lab. */
  async lab<T = unknown>(...args: string[]): Promise<T> {
    const said = await this.program('lab/src/main.js', ['--dir', this.dir, '--json', ...args]);
    const answer = JSON.parse(said) as T | { ok: false; code: string; message: string };
    if (isRefusal(answer)) throw new Error(`lab ${args.join(' ')}: ${answer.code}: ${answer.message}`);
    return answer;
  }

  audit(): Promise<AuditAnswer> {
    return this.lab('audit');
  }

  /** What the BMC of a host was asked to do, oldest first. */
  powerWrites(host: string): BmcEntry[] {
    const log = join(this.dir, 'bmc', host, 'log.jsonl');
    // That nobody has asked anything yet.
    if (!existsSync(log)) return [];
    return readFileSync(log, 'utf8')
      .split('\n')
      .flatMap((line) => parseBmcLine(host, line) ?? [])
      .filter(({ op }) => op === 'set');
  }

  /** Of all hosts. */
  allPowerWrites(): BmcEntry[] {
    return Array.from({ length: NODES }, (_, i) => this.powerWrites(`host${i + 1}`)).flat();
  }

  /** Whatever is left of them, also of a start that broke off. */
  async remove(): Promise<void> {
    await this.program('lab/src/main.js', ['--dir', this.dir, 'down']);
    for (const path of [this.tokenFile, this.creds]) rmSync(path, { recursive: true, force: true });
  }

  private program(file: string, args: readonly string[]): Promise<string> {
    return this.machine.answer('machine', process.execPath, [join(this.root, 'dist', file), ...args]);
  }
}

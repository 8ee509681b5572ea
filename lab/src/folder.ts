import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MusterError } from '#contracts';
import { planLab, type ControlChoice, type LabMode, type LabPlan } from './plan.js';

/** lab.json: what `up` was told. Written before anything is made, so that `down` can undo a start that broke off. */
export interface LabRecord {
  format: 1;
  mode: LabMode;
  nodes: number;
  /** Hosts without an agent, after the others. @default 0 */
  bare?: number;
  /** Simulated peers. @default 0 */
  peers?: number;
  /** Of the gateway on 127.0.0.1. */
  port: number;
  /** Of the gateways of more control hosts, in their order. */
  morePorts?: number[];
  /** @default 1 */
  control?: ControlChoice;
  /** Each control host keeps its store on a disk of its own. */
  storeDisks?: true;
  /** Seconds after which a service that died starts again; absent: never by itself. */
  restart?: number;
  state: 'starting' | 'up' | 'down';
  startedAt: number;
}

/** Repository root, seen from dist/lab/src, and by specs from lab/src. */
export const PROJECT = ['../..', '../../..']
  .map((up) => resolve(import.meta.dirname, up))
  .find((folder) => existsSync(join(folder, 'package.json')))!;

const SAFE_PATH = /^[A-Za-z0-9._/+@=-]+$/;
/** A unix socket's path has at most 107 bytes; the longest below the folder is `/run/gateway.3.sock`. */
const MAX_PATH = 88;

/** One lab's folder: everything that the lab writes is in it. */
export class LabFolder {
  readonly path: string;

  /** BAD_REQUEST where the path cannot be used in configuration files and sockets. */
  constructor(path: string) {
    this.path = resolve(path);
    if (!SAFE_PATH.test(this.path) || this.path.length > MAX_PATH)
      throw new MusterError(
        'BAD_REQUEST',
        `the lab's folder "${this.path}" needs a path of at most ${MAX_PATH} plain characters; give another with --dir`,
      );
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  host(name: string, ...parts: string[]): string {
    return this.at('hosts', name, ...parts);
  }

  /** Of its gateways: one for each control host. */
  get apis(): string[] {
    const { port, morePorts = [], control } = this.record();
    return typeof control === 'object' ? control.http : [port, ...morePorts].map((p) => `http://127.0.0.1:${p}`);
  }

  /** What those want of whoever asks; undefined: nothing. */
  get token(): string | undefined {
    const { control } = this.record();
    const file = typeof control === 'object' ? control.token : undefined;
    return file === undefined ? undefined : readFileSync(file, 'utf8').trim();
  }

  exists(): boolean {
    return existsSync(this.at('lab.json'));
  }

  /** NOT_FOUND where no lab was ever started here. */
  record(): LabRecord {
    if (!this.exists()) throw new MusterError('NOT_FOUND', `no lab in ${this.path}; start one with: lab up --nodes 5`);
    return JSON.parse(readFileSync(this.at('lab.json'), 'utf8')) as LabRecord;
  }

  /** The record of a lab that runs. */
  running(): LabRecord {
    const record = this.record();
    if (record.state === 'down')
      throw new MusterError('NOT_FOUND', `the lab in ${this.path} is down; start it with: lab up`);
    return record;
  }

  plan(): LabPlan {
    const record = this.record();
    return planLab(this.path, record.mode, record.nodes, record.bare, record.peers, record.control);
  }

  write(record: LabRecord): void {
    const aside = this.at('lab.json.new');
    writeFileSync(aside, `${JSON.stringify(record, null, 2)}\n`);
    renameSync(aside, this.at('lab.json'));
  }

  /** Made empty for a new lab. ALREADY_EXISTS where one runs, or where the folder holds somebody's files. */
  begin(record: LabRecord): void {
    if (this.exists()) {
      if (this.record().state !== 'down')
        throw new MusterError('ALREADY_EXISTS', `a lab is up in ${this.path}; end it first with: lab down`);
      for (const entry of readdirSync(this.path)) rmSync(this.at(entry), { recursive: true, force: true });
    } else if (existsSync(this.path) && readdirSync(this.path).length > 0) {
      throw new MusterError(
        'ALREADY_EXISTS',
        `${this.path} is not empty and is no lab; give another folder with --dir`,
      );
    }
    mkdirSync(this.path, { recursive: true, mode: 0o755 });
    this.write(record);
    for (const d of ['bmc', 'hosts', 'ledger', 'lib', 'log', 'run', 'ssh', 'home']) mkdirSync(this.at(d));
  }
}

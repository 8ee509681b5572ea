import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { parseDocument, type Document } from 'yaml';
import { Composition, images, type Answer } from '../composition.js';
import type { Engine } from '../engine.js';
import { Hardware } from './hardware.js';
import { readInstallPage, type InstallPage } from './install-page.js';
import { Switch } from './switch.js';

/** At the switch, where no host is. */
const station = { management: '10.0.0.99', backend: '10.1.0.99' };

/** A control host, and the composition that it has by docs/install.md. */
export interface Host {
  name: string;
  hardware: Hardware;
  composition: Composition;
}

/** Three control hosts with a composition each, as docs/install.md sets them up. */
export class ControlHosts {
  readonly hosts: readonly Host[];
  readonly network = new Switch(station);
  readonly page: InstallPage;
  /** What `muster init` has printed. */
  token = '';

  /**
   * @param root of the clone, which is built
   * @param checkout where a host has docker-compose.yml
   * @param dir where their disks are
   */
  constructor(
    private readonly root: string,
    private readonly checkout: string,
    private readonly dir: string,
  ) {
    this.page = readInstallPage(root);
    this.hosts = this.page.hosts.map((host) => {
      const hardware = new Hardware(host, join(dir, host.name), this.network);
      return { name: host.name, hardware, composition: Composition.onHost(hardware, checkout, this.page.options) };
    });
  }

  /** Machines that are on, with their part of one installation. Nothing of Muster runs. */
  async make(engine: Engine): Promise<void> {
    rmSync(this.dir, { recursive: true, force: true });
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    this.token = await this.muster({ cwd: this.dir }, ...this.page.init);
    await this.network.make();
    for (const { hardware } of this.hosts) await hardware.make(engine);
    this.bringFolders();
    for (const { hardware } of this.hosts) await hardware.powerOn();
  }

  /** Other settings for all hosts, as docs/three-hosts.md says; on each of them, what is new of it is only in its folder. */
  async change(edit: (settings: Document) => void): Promise<void> {
    const file = join(this.dir, 'prod', 'muster.yaml');
    const settings = parseDocument(readFileSync(file, 'utf8'));
    edit(settings);
    writeFileSync(file, settings.toString(), { mode: 0o600 });
    await this.muster({ cwd: this.dir }, ...this.page.init);
    this.bringFolders();
  }

  private bringFolders(): void {
    for (const { name, hardware } of this.hosts) hardware.bring(join(this.dir, 'prod', 'hosts', name));
  }

  /** Those that are on. */
  running(): readonly Host[] {
    return this.hosts.filter(({ hardware }) => hardware.isOn);
  }

  /** Root's commands on a host, as they stand on the page. */
  async up({ hardware }: Host): Promise<void> {
    const env = { ...images, ...hardware.engine.env, PATH: `${this.programs()}:${process.env['PATH'] ?? ''}` };
    await hardware.run('bash', ['-euo', 'pipefail', '-c', this.page.up], { cwd: this.checkout, env });
  }

  /** A file of an operator on any of these machines. @returns its path */
  file(name: string, content: string): string {
    const path = join(this.dir, name);
    writeFileSync(path, content);
    return path;
  }

  /** A command of an operator on one of them. */
  on({ hardware }: Host, ...args: string[]): Promise<Answer> {
    return this.asOperator(hardware.enter, {}, args);
  }

  /** The same on another machine of their networks. */
  outside(env: Record<string, string>, ...args: string[]): Promise<Answer> {
    return this.asOperator(this.network.enter, env, args);
  }

  private async asOperator(
    [enter, ...entering]: readonly [string, ...string[]],
    more: Record<string, string>,
    args: readonly string[],
  ): Promise<Answer> {
    const program = [process.execPath, join(this.root, 'bin', 'muster.mjs'), ...args];
    const env = { MUSTER_TOKEN: this.token, ...more };
    const { exitCode, stdout, stderr } = await execa(enter, [...entering, ...program], { env, reject: false });
    return { exitCode: exitCode ?? 1, stdout, stderr };
  }

  async remove(): Promise<void> {
    for (const { hardware } of this.hosts) await hardware.remove();
    await this.network.remove();
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async muster(o: { cwd: string }, ...args: string[]): Promise<string> {
    return (await execa(process.execPath, [join(this.root, 'bin', 'muster.mjs'), ...args], o)).stdout;
  }

  /** Where there is no plugin, `docker compose` of the page is docker-compose. */
  private programs(): string {
    const folder = join(this.dir, 'bin');
    if (execaSync('docker', ['compose', 'version'], { reject: false }).exitCode === 0) return folder;
    mkdirSync(folder, { recursive: true });
    // docker-compose calls docker itself.
    const script = `#!/bin/sh
PATH=\${PATH#*:}
if [ "$1" = compose ]; then shift; exec docker-compose "$@"; fi
exec docker "$@"
`;
    writeFileSync(join(folder, 'docker'), script, { mode: 0o755 });
    return folder;
  }
}

import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** In the system's temporary folder, not in the data folder: the path of an ssh control socket holds 107 characters. */
const PREFIX = 'muster-run-';

/** Inventory, variables and sockets of one run: mode 700, files 600, gone when the run is over. */
export class RunFolder {
  /** Of this process. */
  private static readonly inUse = new Set<string>();

  private constructor(readonly path: string) {}

  static async create(): Promise<RunFolder> {
    const folder = new RunFolder(await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`)));
    RunFolder.inUse.add(folder.path);
    await mkdir(folder.file('cp'), { mode: 0o700 });
    await mkdir(folder.file('tmp'), { mode: 0o700 });
    return folder;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  async write(name: string, text: string): Promise<string> {
    await writeFile(this.file(name), text, { mode: 0o600, flag: 'wx' });
    return this.file(name);
  }

  /** Ends the ssh connections that stand by for the next task, which Ansible leaves behind, and removes everything. */
  async remove(): Promise<void> {
    const sockets = (await readdir(this.file('cp'))).map((name) => this.file(join('cp', name)));
    await Promise.all(sockets.map(endMaster));
    await rm(this.path, { recursive: true, force: true });
    RunFolder.inUse.delete(this.path);
  }

  /**
   * Folders of processes that were killed: their variables must not lie about. One with this process's number is of a
   * predecessor, unless this process made it: in a container each has the same.
   */
  static async removeAbandoned(): Promise<void> {
    for (const name of await readdir(tmpdir())) {
      const pid = /^muster-run-(\d+)-/.exec(name)?.[1];
      if (pid === undefined) continue;
      const path = join(tmpdir(), name);
      if (pid === String(process.pid) ? RunFolder.inUse.has(path) : existsSync(`/proc/${pid}`)) continue;
      const isOwn = (await lstat(path).catch(() => undefined))?.uid === process.getuid?.();
      if (isOwn) await rm(path, { recursive: true, force: true });
    }
  }
}

/** A master that is gone already makes ssh complain: that is as good. */
const endMaster = (socket: string): Promise<unknown> =>
  execa('ssh', ['-O', 'exit', '-o', `ControlPath=${socket}`, 'any'], {
    timeout: 1_000,
    stdio: 'ignore',
    reject: false,
    // It may end after this process, and must: else the master stays.
    cleanup: false,
  });

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { startOf } from './processes.js';

const HOST = resolve(import.meta.dirname, '../host');
const PYTHON = ['/usr/bin/python3', '-I', '-S', '-B'];

/** The first process of a host, in a folder instead of a namespace, and its systemctl. */
class Machine {
  readonly root = mkdtempSync(join(tmpdir(), 'muster-init-'));
  private first: Daemon | undefined;

  constructor() {
    for (const d of ['etc/systemd/system/multi-user.target.wants', 'run', 'var/log'])
      mkdirSync(join(this.root, d), { recursive: true });
    writeFileSync(join(this.root, 'etc/hostname'), 'host1\n');
  }

  get env(): NodeJS.ProcessEnv {
    return { PATH: '/usr/bin:/bin', MUSTER_ROOT: this.root, MUSTER_LAB_HOST: this.root, MUSTER_LAB_READY: '3' };
  }

  unit(name: string, text: string, enabled = false): void {
    const file = join(this.root, 'etc/systemd/system', name);
    writeFileSync(file, text);
    if (enabled) symlinkSync(file, join(this.root, 'etc/systemd/system/multi-user.target.wants', name));
  }

  packaged(name: string, text: string): void {
    const folder = join(this.root, 'usr/lib/systemd/system');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  async boot(): Promise<void> {
    // As a host's first process, it adopts what loses its parent.
    const start = `import sys; sys.path.insert(0, ${JSON.stringify(HOST)}); import enter, supervisor; enter.libc.prctl(enter.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); supervisor.Supervisor().run()`;
    const [python, ...flags] = PYTHON;
    const first = daemon(python!, [...flags, '-c', start], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    this.first = first;
    await once(first.stdio[3], 'data');
  }

  async systemctl(...args: string[]): Promise<{ code: number | undefined; out: string }> {
    const { exitCode, stdout, stderr } = await execa('/usr/bin/perl', [join(HOST, 'systemctl.pl'), ...args], {
      env: this.env,
      extendEnv: false,
      reject: false,
    });
    return { code: exitCode, out: `${stdout}${stderr}`.trim() };
  }

  async property(name: string, unit: string): Promise<string> {
    return (await this.systemctl('show', unit, '-p', name, '--value')).out;
  }

  /** The supervisor's socket answers states only: looks until the unit shows what is wanted. */
  async until(unit: string, name: string, is: (value: string) => boolean): Promise<string> {
    for (let tries = 0; tries < 100; tries += 1) {
      const value = await this.property(name, unit);
      if (is(value)) return value;
    }
    throw new Error(`${unit}: ${name} did not come`);
  }

  async off(): Promise<void> {
    this.first?.kill('SIGTERM');
    await this.first;
    rmSync(this.root, { recursive: true, force: true });
  }
}

const sleeper = (more = ''): string =>
  `[Service]\nExecStart=/bin/sleep 300\n${more}\n[Install]\nWantedBy=multi-user.target\n`;

describe('the first process of a lab host', () => {
  let machine: Machine;
  beforeEach(() => {
    machine = new Machine();
  });
  afterEach(() => machine.off());

  it('starts at boot what is enabled, and nothing else', async () => {
    machine.unit('wanted.service', sleeper(), true);
    machine.unit('other.service', sleeper());
    await machine.boot();
    expect(await machine.systemctl('is-active', 'wanted')).toEqual({ code: 0, out: 'active' });
    expect(await machine.systemctl('is-active', 'other')).toEqual({ code: 3, out: 'inactive' });
  });

  it('starts a killed service again, as another process', async () => {
    machine.unit('s.service', sleeper('Restart=always\nRestartSec=20ms'), true);
    await machine.boot();
    const pid = await machine.property('MainPID', 's');
    process.kill(Number(pid), 'SIGKILL');
    expect(await machine.until('s', 'MainPID', (now) => now !== pid && now !== '0')).toMatch(/^\d+$/);
    expect(await machine.property('NRestarts', 's')).toBe('1');
  });

  it('does not start a service whose gate refuses, and says so', async () => {
    machine.unit('gated.service', sleeper('ExecStartPre=/bin/false'));
    await machine.boot();
    expect((await machine.systemctl('start', 'gated')).code).toBe(1);
    expect(await machine.property('ActiveState', 'gated')).toBe('failed');
    expect(await machine.property('MainPID', 'gated')).toBe('0');
  });

  it.skipIf(process.getuid?.() !== 0)('lets a service go before others where its unit says so', async () => {
    machine.unit('first.service', sleeper('Nice=-15'), true);
    machine.unit('then.service', sleeper(), true);
    await machine.boot();
    const rank = async (unit: string): Promise<string[]> => {
      await machine.until(unit, 'ActiveState', (state) => state === 'active');
      const pid = Number(await machine.property('MainPID', unit));
      const { stdout } = await execa('/usr/bin/ps', ['-o', 'ni=', '-p', String(pid)]);
      const group = `/proc/${pid}/autogroup`;
      return [
        stdout.trim(),
        ...(existsSync(group) ? [readFileSync(group, 'utf8').trim().split(' ').at(-1) ?? ''] : []),
      ];
    };
    expect(new Set(await rank('first.service'))).toEqual(new Set(['-15']));
    expect(new Set(await rank('then.service'))).toEqual(new Set(['0']));
  });

  it('ends with a service what the service has started', async () => {
    const pids = join(machine.root, 'child');
    const script = `/bin/sh -c "/bin/sleep 301 & echo $$! > ${pids}; wait"`;
    machine.unit('parent.service', `[Service]\nExecStart=${script}\n`);
    await machine.boot();
    await machine.systemctl('start', 'parent');
    const child = await machine
      .until('parent', 'ActiveState', (s) => s === 'active')
      .then(async () => {
        for (let tries = 0; tries < 100; tries += 1) {
          try {
            const pid = Number(readFileSync(pids, 'utf8'));
            if (pid > 0) return pid;
          } catch {
            await machine.property('ActiveState', 'parent'); // the shell has not written yet
          }
        }
        throw new Error('the child did not start');
      });
    expect(startOf(child)).toBeDefined();
    await machine.systemctl('stop', 'parent');
    expect(startOf(child)).toBeUndefined();
  });

  it('answers Ansible: unknown, enabled, disabled, masked units by systemd’s codes', async () => {
    machine.unit('s.service', sleeper());
    await machine.boot();
    expect(await machine.property('LoadState', 'nonesuch')).toBe('not-found');
    expect(await machine.systemctl('is-enabled', 's')).toEqual({ code: 1, out: 'disabled' });
    await machine.systemctl('enable', 's');
    expect(await machine.systemctl('is-enabled', 's')).toEqual({ code: 0, out: 'enabled' });
    await machine.systemctl('mask', 'ghost');
    expect(await machine.property('LoadState', 'ghost')).toBe('masked');
    expect((await machine.systemctl('start', 'nonesuch')).code).toBe(5);
  });

  it('stops several units beside each other, restarts what runs, and reloads what can be', async () => {
    machine.unit('a.service', sleeper('ExecReload=/bin/true'));
    machine.unit('b.service', sleeper());
    await machine.boot();
    expect(await machine.systemctl('start', 'a', 'b')).toEqual({ code: 0, out: '' });
    const [a, b] = [await machine.property('MainPID', 'a'), await machine.property('MainPID', 'b')];
    expect(await machine.systemctl('reload-or-restart', 'a', 'b')).toEqual({ code: 0, out: '' });
    expect(await machine.property('MainPID', 'a')).toBe(a);
    expect(await machine.property('MainPID', 'b')).not.toBe(b);
    expect(await machine.systemctl('is-active', 'a', 'b')).toEqual({ code: 0, out: 'active\nactive' });
    expect(await machine.systemctl('stop', 'a', 'b')).toEqual({ code: 0, out: '' });
    expect(await machine.systemctl('try-restart', 'a')).toEqual({ code: 0, out: '' });
    expect(await machine.systemctl('is-active', 'a', 'b')).toEqual({ code: 3, out: 'inactive\ninactive' });
  });

  it('refuses whole what it cannot do, and outlives it', async () => {
    machine.unit('a.service', sleeper());
    await machine.boot();
    const refused = { code: 5, out: 'Failed to start nonesuch.service: Unit nonesuch.service not found.' };
    expect(await machine.systemctl('start', 'a', 'nonesuch')).toEqual(refused);
    expect((await machine.systemctl('kill', 'a', '-s', 'NONE')).code).toBe(1);
    expect(await machine.systemctl('dance')).toEqual({ code: 1, out: 'Unknown command verb dance.' });
    expect(await machine.systemctl('is-active', 'a')).toEqual({ code: 3, out: 'inactive' });
  });

  it('knows the units of packages, and starts none of them by itself', async () => {
    machine.packaged('from-a-package.service', sleeper());
    await machine.boot();
    expect(await machine.systemctl('is-active', 'from-a-package')).toEqual({ code: 3, out: 'inactive' });
    expect(await machine.systemctl('start', 'from-a-package')).toEqual({ code: 0, out: '' });
    expect(await machine.property('FragmentPath', 'from-a-package')).toMatch(/usr\/lib\/systemd\/system/);
  });

  it('follows a service that goes into the background by its file with a pid, and ends all of it', async () => {
    const [pid, forgotten] = [join(machine.root, 'pid'), join(machine.root, 'worker')];
    // As nginx: its first process ends before the file is there, and its environment cannot be read.
    const background = `sleep 0.2; env -i sleep 302 & echo $! > ${forgotten}; echo $$ > ${pid}; wait`;
    writeFileSync(
      join(machine.root, 'program'),
      `#!/bin/sh\nsetsid env -i PATH=/bin:/usr/bin sh -c '${background}' &\n`,
    );
    machine.unit(
      'daemon.service',
      `[Service]\nType=forking\nPIDFile=${pid}\nExecStart=/bin/sh ${join(machine.root, 'program')}\n`,
    );
    await machine.boot();
    expect(await machine.systemctl('start', 'daemon')).toEqual({ code: 0, out: '' });
    const [main, worker] = [readFileSync(pid, 'utf8').trim(), Number(readFileSync(forgotten, 'utf8'))];
    expect(await machine.property('MainPID', 'daemon')).toBe(main);
    expect(startOf(worker)).toBeDefined();
    await machine.systemctl('stop', 'daemon');
    expect([startOf(Number(main)), startOf(worker)]).toEqual([undefined, undefined]);
  });

  it('sees a service end that went into the background', async () => {
    const pid = join(machine.root, 'pid');
    writeFileSync(join(machine.root, 'program'), `#!/bin/sh\nsleep 303 &\necho $! > ${pid}\n`);
    machine.unit(
      'daemon.service',
      `[Service]\nType=forking\nPIDFile=${pid}\nExecStart=/bin/sh ${join(machine.root, 'program')}\n`,
    );
    await machine.boot();
    await machine.systemctl('start', 'daemon');
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    expect(await machine.until('daemon', 'ActiveState', (state) => state !== 'active')).toBe('failed');
  });

  it('gives up on a service that dies at once, again and again', async () => {
    machine.unit('broken.service', '[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=1ms\n', true);
    await machine.boot();
    await machine.until('broken', 'Result', (r) => r === 'start-limit-hit');
    expect(await machine.property('ActiveState', 'broken')).toBe('failed');
  });

  it('keeps a oneshot unit with RemainAfterExit active, and sets its environment', async () => {
    const out = join(machine.root, 'said');
    machine.unit(
      'once.service',
      `[Service]\nType=oneshot\nRemainAfterExit=yes\nEnvironment="WORD=two words"\nExecStart=/bin/sh -c "echo \${WORD} of %n > ${out}"\n`,
    );
    await machine.boot();
    await machine.systemctl('start', 'once');
    expect(await machine.property('SubState', 'once')).toBe('exited');
    expect(readFileSync(out, 'utf8')).toBe('two words of once.service\n');
  });

  it('hands on every argument as it is, and says where nobody answers', async () => {
    await machine.boot();
    const odd = 'a "b" \\ \t é 🐧';
    expect((await machine.systemctl('start', odd)).out).toContain(odd);
    const nowhere = join(machine.root, 'run/lab-init.sock');
    rmSync(nowhere);
    expect(await machine.systemctl('start', 'x')).toEqual({
      code: 1,
      out: "Failed to connect to the host's first process: No such file or directory",
    });
  });
});

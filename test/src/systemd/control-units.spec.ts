import { setTimeout as pause } from 'node:timers/promises';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa, execaSync } from 'execa';
import { connectBus, initCluster, renewServerCertificate, type Bus } from '#bus';
import { tlsFiles } from '#bus/init/tls-files.js';
import { daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { hearWords, type HeardWords } from '../../../libs/service/src/testing/notify-socket.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const units = join(root, 'deploy', 'systemd');
const services = readdirSync(units).filter((name) => name.endsWith('.service'));
const ours = services.filter((name) => name !== 'muster-control-nats.service');
const COMMON = join('muster-control-.service.d', '10-common.conf');

const dropIns = (unit: string): string[] =>
  existsSync(join(units, `${unit}.d`))
    ? readdirSync(join(units, `${unit}.d`)).map((name) => join(`${unit}.d`, name))
    : [];

/** What a unit says, and then what its drop-ins say, as systemd reads them: [key, value] in order. */
const settings = (unit: string): [string, string][] =>
  [unit, COMMON, ...dropIns(unit)].flatMap((file) =>
    readFileSync(join(units, file), 'utf8')
      .split('\n')
      .flatMap((line): [string, string][] => {
        const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
        return key === undefined ? [] : [[key, value ?? '']];
      }),
  );
const all = (unit: string, wanted: string): string[] =>
  settings(unit).flatMap(([key, value]) => (key === wanted ? value.split(' ') : []));

/** systemd's own judge is on every machine that has systemd; elsewhere nobody runs these units. */
const analyzes = execaSync('systemd-analyze', ['--version'], { reject: false }).exitCode === 0;

(analyzes ? describe : describe.skip)('the units of a control machine, by systemd-analyze', () => {
  it('are well formed', () => {
    const files = [...services, 'muster-control.target'].map((name) => join(units, name));
    const { all: said, exitCode } = execaSync('systemd-analyze', ['verify', '--man=no', ...files], {
      all: true,
      reject: false,
    });
    // It tells of other units of this machine, too.
    expect([exitCode, (said ?? '').split('\n').filter((line) => line.includes('muster'))]).toEqual([0, []]);
  });

  it.each(services)('leave little open: %s', (unit) => {
    const judged = ['security', '--offline=yes', '--threshold=30', '--no-pager', join(units, unit)];
    const { exitCode, stdout } = execaSync('systemd-analyze', judged, { reject: false });
    expect([exitCode, stdout.split('\n').at(-1)]).toEqual([0, expect.stringContaining('Overall exposure level')]);
  });
});

/** What a unit mounts can be mounted here, as root. */
const mounts = execaSync('unshare', ['--mount', 'true'], { reject: false }).exitCode === 0;

(mounts ? describe : describe.skip)('what a running unit sees of the certificate of NATS', () => {
  let etc: string;
  beforeAll(async () => {
    etc = join(mkdtempSync(join(tmpdir(), 'muster-shown-')), 'etc');
    await initCluster(etc, { cluster: 'spec', agents: [], natsListen: ['10.0.0.1:4222'], storeDir: join(etc, 'nats') });
  });
  afterAll(() => rmSync(dirname(etc), { recursive: true }));

  /** Its files by path, as they are when `meanwhile` is done, which comes after its start. */
  async function seenBy(unit: string, meanwhile: () => Promise<unknown>): Promise<Record<string, string>> {
    const view = mkdtempSync(join(dirname(etc), 'view-'));
    const bound = all(unit, 'BindReadOnlyPaths').map((path) => path.replace(/^-/, '').replace('/etc/muster/', ''));
    const script = [
      'set -e; mount --make-rprivate /; mount -t tmpfs none "$1"',
      ...bound
        .filter((path) => existsSync(join(etc, path)))
        .map((path) => {
          const make = statSync(join(etc, path)).isDirectory() ? `mkdir -p "$1/${path}"` : `touch "$1/${path}"`;
          return `mkdir -p "$1/${dirname(path)}"; ${make}; mount --bind "$2/${path}" "$1/${path}"`;
        }),
      'echo up; read -r _',
      'cd "$1"; for file in $(find . -type f); do echo "$(base64 -w0 "$file") ${file#./}"; done',
    ].join('\n');
    const running = execa('unshare', ['--mount', 'sh', '-c', script, 'unit', view, etc], { stdin: 'pipe' });
    await once(running.stdout, 'data');
    await meanwhile();
    running.stdin.end('\n');
    const { stdout } = await running;
    const lines = stdout.split('\n').slice(1);
    return Object.fromEntries(
      lines
        .map((line) => line.split(' '))
        .map(([text = '', path = '']) => [path, Buffer.from(text, 'base64').toString()]),
    );
  }

  it.each(['muster-control-inventory.service', 'muster-control-nats.service'])(
    'is another one as soon as it was issued: %s',
    async (unit) => {
      const before = readFileSync(join(etc, 'tls/server.pem'), 'utf8');
      const seen = await seenBy(unit, () => renewServerCertificate(etc, []));
      const after = readFileSync(join(etc, 'tls/server.pem'), 'utf8');
      expect(after).not.toBe(before);
      expect(seen['tls/server.pem']).toBe(after);
    },
  );

  it('is no key of it, but for NATS', async () => {
    const { key } = tlsFiles(etc);
    const text = readFileSync(key, 'utf8');
    for (const unit of services) {
      const seen = await seenBy(unit, () => Promise.resolve());
      expect([unit, Object.values(seen).includes(text)]).toEqual([unit, unit === 'muster-control-nats.service']);
    }
  });
});

describe('what a unit shows its service', () => {
  it.each(ours)('is no other service’s user, and never a key that makes users or certificates: %s', (unit) => {
    const own = /^muster-control-(.*)\.service$/.exec(unit)?.[1];
    const files = all(unit, 'BindReadOnlyPaths');
    expect(files.filter((f) => f.includes('/creds'))).toEqual([`/etc/muster/creds/${own}.json`]);
    expect(files.filter((f) => /operator|ca\.key|^-?\/etc\/muster(\/keys)?$/.test(f))).toEqual([]);
  });

  it('gives the detector what ping needs, and nobody else any capability', () => {
    const last = (unit: string): string | undefined =>
      settings(unit).findLast(([k]) => k === 'AmbientCapabilities')?.[1];
    expect(services.filter((unit) => last(unit) !== '')).toEqual(['muster-control-detector.service']);
  });

  it('is named in the target, for each', () => {
    const wanted = [
      ...readFileSync(join(units, 'muster-control.target'), 'utf8').matchAll(/muster-control-\w+\.service/g),
    ];
    expect(wanted.map(([name]) => name).sort()).toEqual([...services].sort());
  });
});

/** Rejects where a service has ended, and what it had to say has not come within 5 s after. */
async function endedWordless(service: PromiseLike<{ exitCode?: number }>): Promise<never> {
  const { exitCode } = await service;
  await pause(5_000, undefined, { ref: false });
  throw new Error(`it ended with ${exitCode}, and did not say that it stops`);
}

describe('a service with what its unit shows it', () => {
  let nats: TestNats;
  let bus: Bus;
  let dir: string;
  /** All at once: each mostly waits. */
  const runs = new Map<string, Promise<void>>();

  beforeAll(async () => {
    nats = await startTestNats({ users: true });
    dir = mkdtempSync(join(tmpdir(), 'muster-units-'));
    bus = await connectBus({
      name: 'spec',
      servers: [nats.url],
      credentials: JSON.parse(readFileSync(join(nats.dir, 'creds', 'inventory.json'), 'utf8')) as never,
    });
    // The others read through an inventory, and that of the units ends before some have begun.
    await bus.createBuckets();
    for (const unit of ours) {
      const run = startAndEnd(unit);
      // Each test has its own failure to tell.
      run.catch(() => undefined);
      runs.set(unit, run);
    }
  });
  afterAll(async () => {
    await Promise.allSettled(runs.values());
    await bus.close();
    await nats.stop();
    rmSync(dir, { recursive: true });
  });

  /** A folder of the unit's own stands for each that systemd would make or show; the program is the built one. */
  function paths(unit: string): (text: string) => string {
    const own = join(dir, unit);
    return (text) =>
      text
        .replaceAll('/etc/muster', join(own, 'etc'))
        .replaceAll('/var/lib/muster', join(own, 'state'))
        .replaceAll('/opt/muster', root);
  }

  function furnish(unit: string): void {
    const at = paths(unit);
    for (const bound of all(unit, 'BindReadOnlyPaths')) {
      const from = bound.replace(/^-/, '').replace('/etc/muster', nats.dir);
      if (bound.startsWith('-') && !existsSync(from)) continue;
      const to = at(bound.replace(/^-/, ''));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(from, to, { recursive: true });
    }
    for (const state of all(unit, 'StateDirectory')) mkdirSync(at(`/var/lib/${state}`), { recursive: true });
  }

  async function startAndEnd(unit: string): Promise<void> {
    furnish(unit);
    const at = paths(unit);
    const socket = join(dir, unit, 'notify');
    const systemd = await hearWords(socket);
    try {
      await withSystemd(unit, at, socket, systemd);
    } finally {
      await systemd.close();
    }
  }

  async function withSystemd(unit: string, at: (text: string) => string, socket: string, systemd: HeardWords) {
    const [program = '', ...args] = all(unit, 'ExecStart').map(at);
    const own = Object.fromEntries(all(unit, 'Environment').map((pair) => at(pair).split('='))) as object;
    const service = daemon(program === '/usr/bin/node' ? process.execPath : program, args, {
      cwd: '/',
      env: {
        PATH: process.env['PATH'],
        HOME: '/',
        ...own,
        MUSTER_NATS: nats.url,
        MUSTER_LISTEN: '127.0.0.1:0',
        MUSTER_LOG_LEVEL: 'error',
        NOTIFY_SOCKET: socket,
        WATCHDOG_USEC: String(3_000_000),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    service.stderr.setEncoding('utf8').on('data', (more: string) => (said += more));
    let over = false;
    const early = service.then(({ exitCode }) => {
      over = true;
      throw new Error(`it ended with ${exitCode}: ${said}`);
    });
    early.then(undefined, () => undefined);
    try {
      await Promise.race([systemd.until('READY=1'), early]);
      await Promise.race([systemd.until('WATCHDOG=1'), early]);
      service.kill('SIGTERM');
      await Promise.race([systemd.until('STOPPING=1'), endedWordless(service)]);
      expect([(await service).exitCode, said]).toEqual([0, '']);
    } finally {
      if (!over) service.kill('SIGKILL');
      await service;
    }
  }

  it.each(ours)('starts, says so, says that it works, and ends in good order: %s', (unit) => runs.get(unit));
});

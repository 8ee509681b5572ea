import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa, execaSync } from 'execa';
import { initCluster, renewServerCertificate } from '#bus';
import { tlsFiles } from '#bus/init/tls-files.js';
import { all, ours, services, settings, units } from './control-units.js';

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

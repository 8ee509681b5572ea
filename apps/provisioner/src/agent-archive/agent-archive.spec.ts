import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { agentArchive, PROJECT, type AgentArchive } from './agent-archive.js';
import { importsOf, programFiles } from './program-files.js';
import { tar, type ArchiveFile } from './tar.js';
import { agentUnit } from './unit.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-archive-spec-'));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const packages = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((f) => /^node_modules\/(@[^/]+\/[^/]+|[^/]+)\//.exec(f)?.[1] ?? [])),
];

describe('the files of a program', () => {
  it('are found by every way in which a module is imported', () => {
    const source = `import './a.js';\nimport b, {\n  c,\n} from "./b.js";\nexport * from './c.js';
 * import nothing from 'a remark'\nconst d = await import('d/e');\n`;
    expect(importsOf(source)).toEqual(['./b.js', './c.js', './a.js', 'd/e']);
  });

  it("are the agent's own, what it shares with the services, and the packages of its NATS client: no framework", () => {
    const files = programFiles(PROJECT, ['dist/apps/agent/src/main.js']);
    expect(files).toContain('dist/libs/contracts/src/wire/datagram.js');
    expect(files).toContain('node_modules/tweetnacl/nacl-fast.js');
    expect(files.filter((f) => /\.(d\.ts|map|md)$|spec/.test(f))).toEqual([]);
    expect(files.filter((f) => /^dist\/(apps\/(?!agent)|libs\/(?!contracts))/.test(f))).toEqual([
      'dist/libs/bus/src/nats/dial.js',
      'dist/libs/bus/src/system/package-version.js',
      'dist/libs/bus/src/system/system-clock.js',
      'dist/libs/bus/src/system/system-random.js',
      'dist/libs/probe/src/host-probes.js',
      'dist/libs/probe/src/ping-sign.js',
      'dist/libs/probe/src/port-sign.js',
      'dist/libs/probe/src/tcp-sign.js',
    ]);
    expect(packages(files).filter((p) => !p.startsWith('@nats-io/') && p !== 'tweetnacl')).toEqual([]);
  });

  it('are looked for as Node does, nearest first; what is missing is named', async () => {
    const put = async (path: string, text: string): Promise<void> => {
      await mkdir(join(dir, 'p', path, '..'), { recursive: true });
      await writeFile(join(dir, 'p', path), text);
    };
    await put('package.json', '{"imports": {"#lib": "./lib.js"}}');
    await put('main.js', `import 'node:fs';\nimport '#lib';\nimport x from 'one/sub.js';\n`);
    await put('lib.js', '');
    await put('node_modules/one/package.json', '{"dependencies": {"two": "1"}}');
    await put('node_modules/one/node_modules/two/package.json', '{}');
    await put('node_modules/two/package.json', '{"dependencies": {"three": "1"}}');
    expect(programFiles(join(dir, 'p'), ['main.js'])).toEqual([
      'lib.js',
      'main.js',
      'node_modules/one/node_modules/two/package.json',
      'node_modules/one/package.json',
    ]);
    await put('other.js', `import 'two';\n`);
    expect(() => programFiles(join(dir, 'p'), ['other.js'])).toThrow('lacks the package three');
    expect(() => programFiles(join(dir, 'p'), ['none.js'])).toThrow('build Muster anew');
  });
});

describe('a tar', () => {
  it('is read by tar, with long paths and rights, and is the same each time', async () => {
    await writeFile(join(dir, 'binary'), Buffer.alloc(3_000_000, 7));
    const deep = `${'d'.repeat(90)}/${'e'.repeat(60)}`;
    const files: ArchiveFile[] = [
      { path: 'bin/run', mode: 0o755, text: '#!/bin/sh\n' },
      { path: deep, mode: 0o644, file: join(dir, 'binary'), size: 3_000_000 },
      { path: 'empty', mode: 0o600, text: '' },
    ];
    const bytes = async (): Promise<Buffer> => Buffer.concat(await all(tar(files)));
    const packed = await bytes();
    expect((await bytes()).equals(packed)).toBe(true);
    await writeFile(join(dir, 'a.tar'), packed);
    const { stdout } = execaSync('tar', ['--numeric-owner', '-tvf', join(dir, 'a.tar')]);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^-rwxr-xr-x 0\/0 +10 2000-01-01 .* bin\/run$/),
      expect.stringMatching(new RegExp(`^-rw-r--r-- 0/0 +3000000 .* ${deep}$`)),
      expect.stringMatching(/^-rw------- 0\/0 +0 .* empty$/),
    ]);
  });

  it('is not finished where a file is another than was announced', async () => {
    const files: ArchiveFile[] = [{ path: 'x', mode: 0o644, file: join(dir, 'binary'), size: 5 }];
    await expect(all(tar(files))).rejects.toThrow('x changed while it was read');
    await expect(all(tar([{ path: 'a'.repeat(101), mode: 0o644, text: '' }]))).rejects.toThrow('too long');
  });
});

describe("the agent's archive", () => {
  let runtime: string;
  let first: AgentArchive;

  beforeAll(async () => {
    // A real Node takes seconds to pack: here it is one line that starts it.
    runtime = join(dir, 'node');
    await writeFile(runtime, `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
    await chmod(runtime, 0o755);
    first = await agentArchive(join(dir, 'data'), runtime);
  });

  it('holds an agent that runs where nothing else is installed, and its commands', async () => {
    const home = join(dir, 'host/opt/muster-agent/current');
    await mkdir(home, { recursive: true });
    execaSync('tar', ['-xzf', first.file, '-C', home]);
    expect(await readFile(join(home, 'VERSION'), 'utf8')).toBe(`${first.version}\n`);
    const run = (command: string, ...args: string[]): string => {
      const env = { PATH: '/usr/bin:/bin', MUSTER_ROOT: join(dir, 'host') };
      const alone = { env, extendEnv: false, cwd: '/', stripFinalNewline: false, reject: false } as const;
      const { stdout, stderr } = execaSync(join(home, 'bin', command), args, alone);
      return stdout + stderr;
    };
    expect(run('muster-agent')).toMatch(/^muster-agent: .*host\/etc\/muster\/agent.json: cannot be read \(ENOENT\)\n$/);
    expect(run('muster-gate', 'db')).toMatch(/^muster-gate: db may not start here: no agent answers at /);
    expect(run('muster-workload', 'list', '--json')).toBe('[]\n');
  });

  it('can enrol its host, and say how it is', async () => {
    const home = join(dir, 'host/opt/muster-agent/current');
    const run = (...args: string[]): { status: number | undefined; text: string } => {
      const env = { PATH: '/usr/bin:/bin', MUSTER_ROOT: join(dir, 'host') };
      const alone = { env, extendEnv: false, reject: false } as const;
      const { exitCode, stderr, stdout } = execaSync(join(home, 'bin/muster-agent'), args, alone);
      return { status: exitCode, text: stdout + stderr };
    };
    expect(run('enroll')).toMatchObject({ status: 2, text: expect.stringContaining('--server is needed') });
    expect(run('status')).toMatchObject({ status: 1, text: expect.stringContaining('no agent answers at') });
  });

  it('is put in its place by its own script, beside the version before, and again', async () => {
    const [root, unpacked] = [join(dir, 'bare'), join(dir, 'unpacked')];
    await mkdir(unpacked);
    execaSync('tar', ['-xzf', first.file, '-C', unpacked]);
    const install = (from: string): string =>
      execaSync('sh', [join(from, 'install.sh')], {
        env: { PATH: '/usr/bin:/bin', MUSTER_ROOT: root },
        extendEnv: false,
      }).stdout;
    expect(install(unpacked)).toBe(
      `muster-agent ${first.version} is in its place\nnext: muster-agent enroll --server URL --token-file FILE`,
    );
    const home = join(root, 'opt/muster-agent');
    expect([await readlink(join(home, 'current')), (await readdir(home)).sort()]).toEqual([
      first.version,
      [first.version, 'current'].sort(),
    ]);
    expect((await readdir(join(root, 'usr/local/bin'))).sort()).toEqual([
      'muster-agent',
      'muster-gate',
      'muster-workload',
    ]);
    await writeFile(join(unpacked, 'VERSION'), 'another\n');
    await mkdir(join(root, 'etc/muster'));
    await writeFile(join(root, 'etc/muster/agent.json'), '{}');
    expect(install(unpacked)).toContain('next: systemctl enable muster-agent');
    expect(install(join(home, 'another'))).toContain('muster-agent another is in its place');
    expect((await readdir(home)).sort()).toEqual([first.version, 'another', 'current'].sort());
    const broken = join(unpacked, 'node');
    await writeFile(broken, '#!/bin/sh\nexit 127\n');
    expect(() => install(unpacked)).toThrow('does not run on this machine');
  });

  it('is packed once for one content, and keeps its version wherever it is packed', async () => {
    const { mtimeMs } = await stat(first.file);
    expect(await agentArchive(join(dir, 'data'), runtime)).toEqual(first);
    expect((await stat(first.file)).mtimeMs).toBe(mtimeMs);
    expect(await agentArchive(join(dir, 'other'), runtime)).toMatchObject({
      version: first.version,
      sha256: first.sha256,
    });
    expect((await readdir(join(dir, 'data'))).length).toBe(2);
  });

  it('has another version with another Node; the one before goes when nobody copies it any more', async () => {
    await utimes(first.file, new Date(0), new Date(0));
    const other = join(dir, 'node-2');
    await writeFile(other, '#!/bin/sh\n');
    const second = await agentArchive(join(dir, 'data'), other);
    expect(second.version).not.toBe(first.version);
    expect((await readdir(join(dir, 'data'))).filter((f) => f.endsWith('.gz'))).toEqual([
      `muster-agent-${second.version}.tar.gz`,
    ]);
  });
});

const hasSystemd = !execaSync('systemd-analyze', ['--version'], { reject: false }).failed;
(hasSystemd ? describe : describe.skip)("the agent's unit", () => {
  it('is one that systemd understands', async () => {
    const home = join(dir, 'unit');
    const program = join(home, 'current/node');
    await mkdir(join(home, 'current'), { recursive: true });
    await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
    const file = join(dir, 'muster-agent.service');
    const complaints = async (unit: string): Promise<string[]> => {
      await writeFile(file, unit);
      const { stderr } = execaSync('systemd-analyze', ['verify', '--man=no', file], { reject: false });
      return stderr.split('\n').filter((line) => line.includes('muster-agent'));
    };
    const unit = agentUnit(home, 'main.js');
    expect(await complaints(unit)).toEqual([]);
    expect(await complaints(unit.replace('Nice=', 'Nicer='))).toHaveLength(1);
    expect(await complaints(unit.replace(program, '/no/such/program'))).not.toEqual([]);
  });
});

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa, execaSync } from 'execa';
import type { Engine } from './engine.js';

export const BASE_IMAGE = 'muster-test/base';
export const NATS_IMAGE = 'muster-test/nats';

/**
 * The base images that a registry would give, from Debian's packages as this machine gets them: a Debian with Node and
 * npm of this machine, and a nats-server. Made once per data folder of the engine.
 */
export async function makeBaseImages(engine: Engine, work: string, project: string): Promise<void> {
  await makeBase(engine, join(work, 'base'));
  await makeNats(engine, join(work, 'nats'), project);
}

const has = async (engine: Engine, image: string): Promise<boolean> =>
  (await engine.docker('images', '-q', image)).trim() !== '';

async function makeBase(engine: Engine, root: string): Promise<void> {
  if (await has(engine, BASE_IMAGE)) return;
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  await execa('debootstrap', ['--variant=minbase', '--include=ca-certificates', codename(), root, mirror()]);
  const local = join(root, 'usr', 'local');
  const npm = npmFolder();
  cpSync(process.execPath, join(local, 'bin', 'node'));
  mkdirSync(join(local, 'lib', 'node_modules'), { recursive: true });
  cpSync(npm, join(local, 'lib', 'node_modules', 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  // How this machine reaches its package mirrors, which the build does, too.
  const global = execaSync('npm', ['config', 'get', 'globalconfig']).stdout.trim();
  if (existsSync(global)) {
    mkdirSync(join(local, 'etc'), { recursive: true });
    cpSync(global, join(local, 'etc', 'npmrc'));
  }
  rmSync(join(root, 'etc/apt/sources.list'), { force: true });
  for (const path of ['etc/ssl/certs/ca-certificates.crt', 'etc/apt/sources.list', ...debianSources(), ...aptOptions()])
    if (existsSync(`/${path}`)) cpSync(`/${path}`, join(root, path));
  rmSync(join(root, 'var/cache/apt'), { recursive: true, force: true });
  const packed = `${root}.tar`;
  await execa('tar', ['-C', root, '-c', '-f', packed, '.']);
  await engine.docker('import', packed, BASE_IMAGE);
  rmSync(packed);
  rmSync(root, { recursive: true, force: true });
}

async function makeNats(engine: Engine, context: string, project: string): Promise<void> {
  rmSync(context, { recursive: true, force: true });
  mkdirSync(context, { recursive: true });
  const { stdout } = await execa(process.execPath, [join(project, 'scripts', 'setup', 'newer-nats.mjs')]);
  cpSync(stdout.trim(), join(context, 'nats-server'));
  const lines = [
    `FROM ${BASE_IMAGE}`,
    // As the official image has it, for the health check.
    'RUN apt-get update && apt-get install -y --no-install-recommends busybox && ln -s busybox /usr/bin/wget',
    'COPY nats-server /usr/local/bin/nats-server',
    // Testcontainers gives it options alone.
    'ENTRYPOINT ["nats-server"]',
  ];
  writeFileSync(join(context, 'Dockerfile'), `${lines.join('\n')}\n`);
  await engine.docker('build', '-q', '--network=host', '-t', NATS_IMAGE, context);
}

const SOURCES = 'etc/apt/sources.list.d';
const OPTIONS = 'etc/apt/apt.conf.d';

const debianSources = (): string[] =>
  readdirSync(`/${SOURCES}`)
    .filter((name) => /\.(list|sources)$/.test(name))
    .map((name) => join(SOURCES, name))
    .filter((path) => MIRROR.test(readFileSync(`/${path}`, 'utf8')));

/** Of those that this machine was given, what is told of the mirrors. */
const aptOptions = (): string[] =>
  readdirSync(`/${OPTIONS}`)
    .map((name) => join(OPTIONS, name))
    .filter((path) => /^\s*Acquire::(?!Languages)/m.test(readFileSync(`/${path}`, 'utf8')));

const MIRROR = /^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(\S+\/debian\/?)(?=\s|$)/m;

/** The one that this machine is configured with. */
function mirror(): string {
  for (const path of ['etc/apt/sources.list', ...debianSources()]) {
    const found = existsSync(`/${path}`) ? MIRROR.exec(readFileSync(`/${path}`, 'utf8'))?.[1] : undefined;
    if (found !== undefined) return found;
  }
  throw new Error("the system's package sources name no Debian mirror");
}

const codename = (): string =>
  /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'bookworm';

/** Of the npm that runs us, or that is installed. */
const npmFolder = (): string =>
  process.env['npm_execpath']?.endsWith('npm-cli.js') === true
    ? dirname(dirname(process.env['npm_execpath']))
    : join(execaSync('npm', ['root', '-g']).stdout.trim(), 'npm');

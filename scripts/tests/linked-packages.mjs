import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';

/**
 * Packages that come as hundreds of ES modules. Each spec file would load, compile and link these anew: a second of CPU.
 * They are put into one script before the specs run, which each worker compiles once. What we import of a path within
 * one of them stands here too: else a spec would have that package twice.
 */
export const linkedPackages = [
  '@nestjs/common',
  '@nestjs/common/constants.js',
  '@nestjs/common/enums/route-paramtypes.enum.js',
  '@nestjs/core',
  '@nestjs/microservices',
  '@nestjs/platform-fastify',
  '@nestjs/swagger',
  'execa',
];
/** Specs have these from elsewhere (jest.config.js). */
const others = new Set(['rxjs', 'rxjs/operators', 'class-validator']);

const here = fileURLToPath(import.meta.url);
const root = join(dirname(here), '..', '..');
const packages = realpathSync(join(root, 'node_modules'));
/** By what they are made from: other packages, or other code here, make others. */
const made = join(packages, '.cache', `muster-linked-packages-${stamp()}`);
const script = join(made, 'packages.js');

function stamp() {
  const hash = createHash('sha256').update(packages).update(process.version);
  for (const file of [join(packages, '.package-lock.json'), here]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/** Where a spec finds the package: a file of one line, which asks {@link giveLinkedPackages} for it. */
export const fileOf = (name) => join(made, `${name.replaceAll('/', '=')}.cjs`);

const KEY = 'muster.linked-packages';
let compiled;

/** Gives a sandbox the packages: compiled once in a process, evaluated where a spec asks for one. */
export function giveLinkedPackages(global, context) {
  let link;
  Object.defineProperty(global, Symbol.for(KEY), {
    value: (require) => {
      compiled ??= new Script(readFileSync(script, 'utf8'), { filename: script });
      link ??= compiled.runInContext(context)(require);
      return link;
    },
  });
}

/** Makes the script where it is not there. */
export async function linkPackages() {
  if (existsSync(made)) return;
  // In a process of its own, where nothing of them is loaded yet.
  const { execaSync } = await import('execa');
  const { stdout } = execaSync(process.execPath, [here], { maxBuffer: 1 << 28 });
  const { text, ids } = JSON.parse(stdout);
  const fresh = `${made}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, basename(script)), text);
  for (const [name, id] of Object.entries(ids))
    writeFileSync(
      join(fresh, basename(fileOf(name))),
      `module.exports = globalThis[Symbol.for('${KEY}')](require)(${id});\n`,
    );
  try {
    renameSync(fresh, made);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    // Another run was quicker.
    if (!existsSync(made)) throw error;
  }
}

/** File → what its imports are, as Node has resolved them. */
async function importsOf(names) {
  const imports = new Map();
  const { port1, port2 } = new MessageChannel();
  const last = 'data:text/javascript,export{}';
  const allTold = new Promise((resolve) =>
    port1.on('message', ({ by, specifier, url, format }) => {
      if (!imports.has(by)) imports.set(by, new Map());
      imports.get(by).set(specifier, { url, format });
      if (specifier === last) resolve();
    }),
  );
  const hooks = `
    let port;
    export function initialize(p) { port = p; }
    export async function resolve(specifier, context, next) {
      const { url, format, ...more } = await next(specifier, context);
      port.postMessage({ by: context.parentURL, specifier, url, format });
      return { url, format, ...more };
    }`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: port2, transferList: [port2] });
  for (const name of names) await import(name);
  // What was posted before comes before it.
  await import(last);
  await allTold;
  port1.close();
  return imports;
}

async function printScript() {
  const { transformSync } = createRequire(join(root, 'package.json'))('@swc/core');
  const imports = await importsOf(linkedPackages);
  const idOf = new Map();
  const modules = [];
  const add = (url) => {
    const known = idOf.get(url);
    if (known !== undefined) return known;
    const id = idOf.size;
    idOf.set(url, id);
    const file = fileURLToPath(url);
    const { code } = transformSync(readFileSync(file, 'utf8'), {
      filename: file,
      isModule: true,
      jsc: { target: 'es2022', parser: { syntax: 'ecmascript' } },
      module: { type: 'commonjs' },
    });
    const wanted = {};
    for (const [specifier, { url: to, format }] of imports.get(url) ?? [])
      if (others.has(specifier) || to.startsWith('node:')) wanted[specifier] = specifier;
      else wanted[specifier] = format === 'module' ? add(to) : fileURLToPath(to);
    modules[id] =
      `[${JSON.stringify(file)}, ${JSON.stringify(wanted)}, function (exports, require, module, __filename) {${code}\n}]`;
    return id;
  };
  const entry = imports.get(import.meta.url);
  const ids = Object.fromEntries(linkedPackages.map((name) => [name, add(entry.get(name).url)]));
  const text = `(outer) => {
  const modules = [${modules.join(',\n')}];
  const loaded = [];
  // As Node gives a CommonJS module to an ES module: all of it is the default.
  const asModule = (all) => Object.create(all, { default: { value: all }, __esModule: { value: true } });
  const load = (id) => {
    if (loaded[id] !== undefined) return loaded[id].exports;
    const [file, wanted, run] = modules[id];
    const module = (loaded[id] = { exports: {} });
    const require = (name) => (typeof wanted[name] === 'number' ? load(wanted[name]) : asModule(outer(wanted[name] ?? name)));
    run(module.exports, require, module, file);
    return module.exports;
  };
  return load;
}`;
  process.stdout.write(JSON.stringify({ text, ids }));
}

if (process.argv[1] === here) await printScript();

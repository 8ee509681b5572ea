import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { MusterError } from '#contracts';

/** `from '…'`, `import '…'` and `import('…')` as the compiler prints them. */
const IMPORTS = [
  /^\s*(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
];

export const importsOf = (source: string): string[] => [
  ...new Set(IMPORTS.flatMap((pattern) => [...source.matchAll(pattern)].map((m) => m[1]!))),
];

/** What no program reads while it runs. */
const UNREAD = /\.(d\.[cm]?ts|map|md|markdown)$/i;

/**
 * Paths of all files, relative to `project`, that the compiled programs need to run: themselves, what they import of
 * ours, and the node packages that those name, with the packages that these depend on. Sorted.
 * @throws CONFIG_INVALID where one is missing
 */
export function programFiles(project: string, programs: readonly string[]): string[] {
  const own = new Set<string>();
  const packages = new Set<string>();
  const { imports = {} } = JSON.parse(readFound(join(project, 'package.json'))) as { imports?: Record<string, string> };
  const follow = (file: string): void => {
    if (own.has(file)) return;
    own.add(file);
    for (const name of importsOf(readFound(file))) {
      if (isBuiltin(name)) continue;
      if (name.startsWith('.')) follow(resolve(dirname(file), name));
      else if (name.startsWith('#')) follow(join(project, inside(imports, name)));
      else followPackage(packageDir(project, dirname(file), packageName(name)));
    }
  };
  const followPackage = (dir: string): void => {
    if (packages.has(dir)) return;
    packages.add(dir);
    const { dependencies, optionalDependencies } = JSON.parse(readFound(join(dir, 'package.json'))) as {
      dependencies?: Record<string, string>;
      optionalDependencies?: Record<string, string>;
    };
    for (const name of Object.keys(dependencies ?? {})) {
      const isOptional = name in (optionalDependencies ?? {});
      if (!isOptional || isInstalled(project, dir, name)) followPackage(packageDir(project, dir, name));
    }
  };
  for (const program of programs) follow(join(project, program));
  return [...own, ...[...packages].flatMap(filesOf)].map((file) => relative(project, file)).sort();
}

function readFound(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', `the agent's archive lacks ${file}: build Muster anew`, {}, { cause });
  }
}

/** The path behind a `#name`: by its own entry, or by one with a star. */
function inside(imports: Record<string, string>, name: string): string {
  for (const [pattern, path] of Object.entries(imports)) {
    const [before = '', after] = pattern.split('*');
    if (after === undefined ? name === pattern : name.startsWith(before) && name.endsWith(after))
      return path.replace('*', name.slice(before.length, name.length - (after ?? '').length));
  }
  throw new MusterError('CONFIG_INVALID', `the agent's archive lacks ${name}: package.json does not say where it is`);
}

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** As Node looks for it: in each `node_modules` from the importing folder upwards, up to the project's. */
function placesOf(project: string, from: string, name: string): string[] {
  const places: string[] = [];
  for (let dir = from; ; dir = dirname(dir)) {
    places.push(join(dir, 'node_modules', name));
    if (dir === project || dir === dirname(dir)) return places;
  }
}

const isInstalled = (project: string, from: string, name: string): boolean =>
  placesOf(project, from, name).some((place) => existsSync(join(place, 'package.json')));

function packageDir(project: string, from: string, name: string): string {
  const found = placesOf(project, from, name).find((place) => existsSync(join(place, 'package.json')));
  if (found !== undefined) return found;
  throw new MusterError('CONFIG_INVALID', `the agent's archive lacks the package ${name}: run npm ci in ${project}`);
}

/** Packages below it are another story: they are in where something depends on them. */
function filesOf(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesOf(path);
    return entry.isFile() && !UNREAD.test(entry.name) ? [path] : [];
  });
}

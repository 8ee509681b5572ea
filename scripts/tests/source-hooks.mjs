/**
 * Node's module hooks of a process that runs specs: it imports our TypeScript as it stands, compiled in passing. So a
 * spec needs no build of what it tests, `import.meta.url` is that of the source, and a mutant is a changed source.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const root = new URL('../../', import.meta.url);
const { imports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const fastCheck = new URL('./fast-check.mjs', import.meta.url).href;

/** Of our sources and of what is beside them for specs; what is built imports what is built. */
const isOurs = (url) =>
  url?.startsWith(root.href) === true && !/^(node_modules|dist)\//.test(url.slice(root.href.length));

/** Where the source of an alias of package.json is, whose own targets are in dist/. */
function aliased(specifier) {
  for (const [name, target] of Object.entries(imports)) {
    const [head, tail] = name.split('*');
    if (tail === undefined ? specifier !== name : !specifier.startsWith(head)) continue;
    const built = target.replace('*', specifier.slice(head.length));
    return new URL(built.replace('./dist/', './').replace(/\.js$/, '.ts'), root).href;
  }
  return undefined;
}

function sourceOf(specifier, parent) {
  if (specifier.startsWith('#')) return aliased(specifier);
  // With the seed and the runs of this run.
  if (specifier === 'fast-check' && parent !== fastCheck) return fastCheck;
  if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return undefined;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parent);
  return existsSync(source) ? source.href : undefined;
}

export async function resolve(specifier, context, next) {
  const url = isOurs(context.parentURL) ? sourceOf(specifier, context.parentURL) : undefined;
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts') || !isOurs(url)) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    isModule: true,
    swcrc: false,
    sourceMaps: 'inline',
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
  });
  return { format: 'module', source: code, shortCircuit: true };
}

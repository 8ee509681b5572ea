#!/usr/bin/env node
/**
 * Writes what the API documents say of our types, from the types themselves:
 *   apps/gateway/src/openapi/answer-schemas.ts   what each route of the HTTP API answers
 *   docs/access.md                               who may ask which route, by the built gateway
 *   docs/configure.md                            every key of muster.yaml, every setting
 *   docs/asyncapi.yaml, components.schemas       what is published on NATS, and what its commands take
 *
 *   node scripts/schemas.mjs           writes them
 *   node scripts/schemas.mjs --check   exit 1, naming the file, where one does not agree with the types
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { parseDocument } from 'yaml';
import { configurePage } from './schemas/configure.mjs';
import { accessPage } from './schemas/openapi.mjs';
import { exportedType, programOf, TypeSchemas } from './schemas/json-schema.mjs';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const check = process.argv.includes('--check');

const answers = 'apps/gateway/src/openapi/answers.ts';
const events = 'libs/contracts/src/rpc/events.ts';
const verdict = 'libs/contracts/src/verdict/verdict.ts';
const rpc = 'libs/contracts/src/rpc/rpc.ts';
const program = programOf([answers, events, verdict, rpc]);
const checker = program.getTypeChecker();
const schemas = () => new TypeSchemas(checker, (name) => `#/components/schemas/${name}`);

/** Route → schema of its answer; texts and empty answers are left out. */
function answerSchemas() {
  const types = schemas();
  const routes = {};
  for (const [route, type] of types.members(exportedType(program, answers, 'Answers'))) {
    const name = checker.typeToString(type);
    if (name !== 'string' && name !== 'void') routes[route] = types.of(type);
  }
  return `/** Written by scripts/schemas.mjs from the types in answers.ts; not by hand. */
import type { Schema } from './schemas.js';

/** Route → what it answers. */
export const answerSchemas: Record<string, Schema> = ${JSON.stringify(routes)};

/** Records and views by name. */
export const namedSchemas: Record<string, Schema> = ${JSON.stringify(sorted(types.definitions))};
`;
}

/** `event.<kind>` for each kind, the verdict, the answer to a command, and what they are made of. */
function publicSchemas() {
  const types = schemas();
  const found = {};
  for (const [kind, type] of types.members(exportedType(program, events, 'EventMap')))
    found[`event.${kind}`] = {
      type: 'object',
      required: ['id', 'kind', 'key', 'at', 'source', 'data'],
      properties: {
        id: { type: 'string', description: 'Unique; the stream stores no event twice.' },
        kind: { const: kind },
        key: { type: 'string' },
        at: { type: 'number', description: 'Wall clock, ms.' },
        source: { type: 'string', description: 'Process that said so.' },
        data: types.of(type),
      },
    };
  types.of(exportedType(program, verdict, 'Verdict'));
  for (const name of ['CommandAnswer', 'FenceCommandAnswer', 'EventsCommandAnswer'])
    found[name] = types.of(exportedType(program, rpc, name));
  return { ...found, ...types.definitions };
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Only the schemas that come from types are replaced: those of requests, and all else, are written by hand. */
function asyncapi(text) {
  const document = parseDocument(text);
  const given = document.getIn(['components', 'schemas']);
  const own = (given?.items ?? []).filter((item) => /^(Monitor|Command)\w*Request$|^Log\w*$/.test(item.key.value));
  const made = Object.entries(sorted(publicSchemas())).map(([key, value]) =>
    document.createPair(key, document.createNode(value, { aliasDuplicateObjects: false })),
  );
  given.items = [...own, ...made];
  return document.toString({ lineWidth: 120, singleQuote: true });
}

async function put(file, text) {
  const options = await prettier.resolveConfig(file);
  const formatted = await prettier.format(text, { ...options, filepath: file });
  if (formatted === (readIfThere(file) ?? '')) return;
  if (check) {
    process.stderr.write(`${file} does not agree with the types: run "npm run schemas"\n`);
    process.exitCode = 1;
  } else writeFileSync(file, formatted);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

await put('apps/gateway/src/openapi/answer-schemas.ts', answerSchemas());
const page = 'docs/asyncapi.yaml';
await put(page, asyncapi(readFileSync(page, 'utf8')));
await put('docs/access.md', await accessPage());
await put('docs/configure.md', await configurePage());

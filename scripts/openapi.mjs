#!/usr/bin/env node
/** Writes the reference of the HTTP API, OpenAPI 3.1 as JSON, to a file or to stdout. Needs a build, and no server. */
import { writeFileSync } from 'node:fs';
import { openapi } from './schemas/openapi.mjs';

const text = `${JSON.stringify(await openapi(), undefined, 2)}\n`;
const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(text);
else writeFileSync(file, text);

#!/usr/bin/env node
/**
 * Both API documents by the rules of redocly.yaml: the OpenAPI document of the built gateway, and docs/asyncapi.yaml.
 * Warnings count as errors. Exit 1 where there is one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, formatProblems, getTotals, lintFromString } from '@redocly/openapi-core';
import { openapi } from './schemas/openapi.mjs';

const rules = readFileSync('redocly.yaml', 'utf8');
const documents = {
  'openapi.json': JSON.stringify(await openapi()),
  'docs/asyncapi.yaml': readFileSync('docs/asyncapi.yaml', 'utf8'),
};

for (const [name, source] of Object.entries(documents)) {
  const config = await createConfig(rules, { configPath: join(process.cwd(), 'redocly.yaml') });
  const problems = await lintFromString({ source, absoluteRef: join(process.cwd(), name), config });
  const { errors, warnings } = getTotals(problems);
  if (errors + warnings > 0) process.exitCode = 1;
  formatProblems(problems, {
    format: 'stylish',
    totals: { errors, warnings, ignored: 0 },
    version: '',
    cwd: process.cwd(),
  });
  process.stdout.write(`${name}: ${errors} errors, ${warnings} warnings\n`);
}

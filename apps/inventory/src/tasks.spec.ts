import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EVERYTHING } from './conductor/task.js';
import { tasks } from './tasks.js';

const root = fileURLToPath(new URL('.', import.meta.url));

/** The text of all code in it, at any depth. */
const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));

it('every concern that is written as a reconciler is in the list, once, under a name of its own', () => {
  const written = sourcesIn(root).flatMap((text) => /class (\w+) implements Reconciler\b/.exec(text)?.[1] ?? []);
  expect(tasks.flatMap((t) => ('by' in t ? [t.by.name] : [])).toSorted()).toEqual(written.toSorted());
  expect(new Set(tasks.map((t) => t.name)).size).toBe(tasks.length);
});

it('every concern that is written as a plan is in the list, once', () => {
  const written = sourcesIn(join(root, 'plan')).flatMap((text) =>
    [...text.matchAll(/export const (\w+): Concern\b/g)].map(([, name = '']) => name),
  );
  const listed = readFileSync(join(root, 'tasks.ts'), 'utf8').matchAll(/planned\('[^']+', (\w+),/g);
  expect([...listed].map(([, name = '']) => name).toSorted()).toEqual(written.toSorted());
});

it('a critical task is woken by everything, any other one by that or by nothing, and none less often than once a second', () => {
  for (const { name, watches, periodMs, severity } of tasks) {
    const isByPeriod = severity !== 'critical' && watches.length === 0;
    expect({ name, watches, periodMs }).toEqual({ name, watches: isByPeriod ? [] : EVERYTHING, periodMs: 1000 });
  }
});

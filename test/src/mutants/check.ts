import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { AreaMutant } from './mutant.js';
import { mutate } from './mutate.js';
import { nearest } from './nearest.js';
import { Source } from './source.js';

export interface CheckOptions {
  /** Root of the tree. */
  folder: string;
  mutants: readonly AreaMutant[];
  /** Area → how many it must have. */
  floors: Readonly<Record<string, number>>;
  /** Simulations that there are. */
  sims: readonly string[];
}

/** For a message: where a file of this name is now. */
function whereabouts(folder: string, file: string): string {
  const files = ['apps', 'libs', 'sim', 'lab']
    .flatMap((top) => readdirSync(join(folder, top), { recursive: true, encoding: 'utf8' }).map((f) => join(top, f)))
    .filter((f) => f.endsWith('.ts'));
  const same = files.filter((f) => basename(f) === basename(file));
  const found = same.length > 0 ? same : nearest(file, files);
  return found.length === 0 ? '' : `; nearest: ${found.join(' | ')}`;
}

function problemsOf(m: AreaMutant, o: CheckOptions, sources: Map<string, Source>): string[] {
  const problems: string[] = [];
  const guards = [...(m.specs ?? []), ...(m.sims ?? [])];
  if (guards.length === 0) problems.push('nothing guards it: it names neither a spec nor a simulation');
  for (const spec of m.specs ?? [])
    if (!existsSync(join(o.folder, spec))) problems.push(`no spec ${spec}${whereabouts(o.folder, spec)}`);
    else if (m.test !== undefined && !readFileSync(join(o.folder, spec), 'utf8').includes(m.test))
      problems.push(`no test "${m.test}" in ${spec}`);
  for (const sim of m.sims ?? [])
    if (!o.sims.includes(sim)) problems.push(`no simulation ${sim}; there are ${o.sims.join(', ')}`);
  const path = join(o.folder, m.file);
  if (!existsSync(path)) return [...problems, `the file is gone${whereabouts(o.folder, m.file)}`];
  const source = sources.get(path) ?? new Source(readFileSync(path, 'utf8'));
  sources.set(path, source);
  const mutated = mutate(source, m);
  return 'problem' in mutated ? [...problems, mutated.problem] : problems;
}

/** What must be mended before the mutants can be tried: each line names the mutant, its file, and what is nearest. */
export function checkMutants(o: CheckOptions): string[] {
  const sources = new Map<string, Source>();
  const lines = o.mutants.flatMap((m) =>
    problemsOf(m, o, sources).map((p) => `${m.area} "${m.name}": ${m.file}: ${p}`),
  );
  const seen = new Set<string>();
  for (const { area, name } of o.mutants) {
    if (seen.has(`${area} ${name}`)) lines.push(`${area} "${name}": two mutants have this name`);
    seen.add(`${area} ${name}`);
  }
  for (const area of new Set([...Object.keys(o.floors), ...o.mutants.map((m) => m.area)])) {
    const count = o.mutants.filter((m) => m.area === area).length;
    const floor = o.floors[area] ?? 0;
    if (count < floor) lines.push(`${area}: ${count} mutants, and there were ${floor}: their number never falls`);
    if (count > floor) lines.push(`${area}: ${count} mutants: raise its floor from ${floor} to ${count}`);
  }
  return lines;
}

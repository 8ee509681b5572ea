import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NAME_PATTERN } from '#contracts/names/names.js';
import { isRunningList } from '#contracts/wire/report.js';
import { musterRoot } from '../config/agent-config.js';
import { writeDurably } from '../peers/durable-file.js';

/** `/var/lib/muster/workloads/NAME.json`: the last order about this workload that this node carried out. */
export interface WorkloadFile {
  name: string;
  /** An order with a lower one is refused. */
  generation: number;
  unit: string;
  desired: 'running' | 'stopped';
}

export const workloadsDir = (): string => `${musterRoot()}/var/lib/muster/workloads`;
export const defaultUnit = (name: string): string => `muster-workload-${name}.service`;

/** Undefined: no order was ever carried out here. Throws where the file cannot be understood: that is not "never". */
export async function readWorkload(name: string): Promise<WorkloadFile | undefined> {
  const file = join(workloadsDir(), `${name}.json`);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw e;
  }
  const w = JSON.parse(text) as Partial<WorkloadFile>;
  if (!isRunningList([w]) || w.name !== name || typeof w.unit !== 'string') throw new Error(`${file} is broken`);
  return w as WorkloadFile;
}

export const writeWorkload = (w: WorkloadFile): Promise<void> =>
  writeDurably(join(workloadsDir(), `${w.name}.json`), `${JSON.stringify(w)}\n`);

export async function allWorkloads(): Promise<WorkloadFile[]> {
  let files: string[];
  try {
    files = await readdir(workloadsDir());
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw e;
  }
  const names = files.filter((f) => f.endsWith('.json')).map((f) => f.slice(0, -'.json'.length));
  const found = await Promise.all(
    names
      .filter((n) => NAME_PATTERN.test(n))
      .sort()
      .map(readWorkload),
  );
  return found.filter((w) => w !== undefined);
}

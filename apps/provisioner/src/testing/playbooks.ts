import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestPlaybooks {
  dir: string;
  /** Writes `<step>.yml`: one play over all hosts, without facts, with these tasks (YAML list items). */
  set(step: string, tasks: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** As of the playbooks that come with Muster: to look for a Python, and to ask each millisecond, costs more than what is run. */
const SETTINGS = '[defaults]\ninterpreter_python = /usr/bin/python3\ninternal_poll_interval = 0.005\n';

/** A folder of small playbooks that run on this very machine. */
export async function testPlaybooks(): Promise<TestPlaybooks> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-playbooks-'));
  const set = (step: string, tasks: string[]): Promise<void> =>
    writeFile(
      join(dir, `${step}.yml`),
      `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks.map((t) => `    - ${t}\n`).join('')}`,
    );
  await writeFile(join(dir, 'ansible.cfg'), SETTINGS);
  for (const step of ['site', 'cleanup', 'check', 'recover']) await set(step, ['debug: msg=nothing']);
  return { dir, set, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** An executable file. */
export async function program(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { installScript } from './install-script.js';
import { programFiles } from './program-files.js';
import type { ArchiveFile } from './tar.js';
import { agentUnit } from './unit.js';

/** Where an agent lives on its node: one folder per version, and `current`, a link to the one that is used. */
const AGENT_HOME = '/opt/muster-agent';

/** Command on the node → its program. */
const COMMANDS = { 'muster-agent': 'main', 'muster-gate': 'gate', 'muster-workload': 'workload' } as const;
const programOf = (name: string): string => `dist/apps/agent/src/${name}.js`;

/**
 * All that an agent is made of, by its path in the archive: its programs, the packages that they need, a Node of their
 * own, the three commands, its unit, a script that puts them in their place. Nothing else is needed on the node, and nothing has to be fetched.
 * @throws CONFIG_INVALID
 */
export function agentFiles(project: string, runtime: string): ArchiveFile[] {
  const { version, imports } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    version: string;
    imports: object;
  };
  const program = (path: string): ArchiveFile => ({ path, mode: 0o644, ...onDisk(join(project, path)) });
  const files: ArchiveFile[] = [
    { path: 'node', mode: 0o755, ...onDisk(runtime) },
    { path: 'package.json', mode: 0o644, text: `${JSON.stringify({ version, type: 'module', imports }, null, 2)}\n` },
    { path: 'muster-agent.service', mode: 0o644, text: agentUnit(AGENT_HOME, programOf('main')) },
    { path: 'install.sh', mode: 0o755, text: installScript(AGENT_HOME, Object.keys(COMMANDS)) },
    ...Object.entries(COMMANDS).map(([command, name]) => ({
      path: `bin/${command}`,
      mode: 0o755,
      text: `#!/bin/sh\nexec ${inHome('node')} ${inHome(programOf(name))} "$@"\n`,
    })),
    ...programFiles(project, Object.values(COMMANDS).map(programOf)).map(program),
  ];
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A host that lives in a folder has it before every path. */
const inHome = (path: string): string => `"\${MUSTER_ROOT}${AGENT_HOME}/current/${path}"`;

const onDisk = (path: string): { file: string; size: number } => {
  const file = realpathSync(path);
  return { file, size: statSync(file).size };
};

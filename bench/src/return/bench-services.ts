import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { PROJECT } from '../../../lab/src/folder.js';

/** A service of the fleet that is measured. */
export interface BenchService {
  name: string;
  /** Host group → mode. */
  groups: Record<string, string>;
  resetup: 'all' | 'alone';
}

/**
 * The lab's own two, both on every host: one is set up again with all the others only, one by itself. In the order in
 * which they are set up.
 */
export const SERVICES: readonly BenchService[] = [
  { name: 'mirror', groups: { 'service-master': 'master', 'service-worker': 'proxy' }, resetup: 'all' },
  { name: 'registry', groups: { 'service-master': 'master', 'service-worker': 'master' }, resetup: 'alone' },
];
/** Stopped, the host is broken; edited, it has drifted. */
export const BROKEN = { service: 'mirror', command: 'systemctl stop muster-mirror.service' };
export const DRIFTED = { service: 'registry', command: 'echo >> /etc/muster-registry/registry.json' };

/** Their folder, for `lab up --services`. */
export function writeBenchServices(into: string): void {
  mkdirSync(into);
  for (const { name, groups, resetup } of SERVICES) {
    cpSync(join(PROJECT, 'lab', 'services', name), join(into, name), { recursive: true });
    const file = join(into, name, 'service.yml');
    const declared = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, stringify({ ...declared, groups, resetup }));
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseControlHosts, type ControlHost } from '#bus';
import { blocksOf } from '../../quickstart/blocks.js';

const PAGE = 'docs/install.md';

/** What docs/install.md tells who sets up three control hosts in containers. */
export interface InstallPage {
  hosts: readonly ControlHost[];
  /** Arguments of `muster` on the machine of an admin: they write the folder `prod`. */
  init: string[];
  /** Root's commands on each host, when it has its folder. */
  up: string;
  /** What is said to `docker compose` with each command there. */
  options: string[];
}

/** @param root of a clone. @throws Error where the page has something else */
export function readInstallPage(root: string): InstallPage {
  const text = readFileSync(join(root, PAGE), 'utf8');
  const found = (what: RegExp): string => {
    const [, part] = what.exec(text) ?? [];
    if (part === undefined) throw new Error(`${PAGE} has nothing like ${String(what)}`);
    return part;
  };
  const words = (line: string): string[] => line.trim().split(/\s+/);
  const options = found(/^compose="docker compose (.*)"$/m);
  return {
    hosts: parseControlHosts(found(/^muster init \S+ --hosts (\S+)$/m)),
    init: words(found(/^muster (init \S+ --hosts \S+)$/m)),
    up: blocksOf(PAGE, text).find((block) => block.text.includes(options))!.text,
    options: words(options),
  };
}

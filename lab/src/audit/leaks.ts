import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Seen {
  pid: string;
  argv: string;
  environ: string;
  /** Its network namespace. */
  net: string;
}

/**
 * Every process of the lab in this folder. The lab's own carry its mark; what those start with an environment of its
 * own making (ipmitool, Ansible) shares their network namespace, or names the folder. In loopback mode an ipmitool does
 * neither, and is not seen.
 */
function processesOf(folder: string): Seen[] {
  const all = readdirSync('/proc')
    .filter((p) => /^\d+$/.test(p))
    .flatMap((pid) => {
      try {
        const read = (f: string): string => readFileSync(`/proc/${pid}/${f}`, 'utf8').replaceAll('\0', ' ');
        return [{ pid, argv: read('cmdline'), environ: read('environ'), net: readlinkSync(`/proc/${pid}/ns/net`) }];
      } catch {
        return []; // it ended while we looked, or is not ours to look at: no process of the lab
      }
    });
  const marked = all.filter((p) => p.environ.includes(`MUSTER_LAB_DIR=${folder} `));
  const namespaces = new Set(marked.map((p) => p.net));
  namespaces.delete(readlinkSync('/proc/self/ns/net'));
  return all.filter((p) => namespaces.has(p.net) || p.environ.includes(folder) || p.argv.includes(folder));
}

const TOOLS = /(^|\/)(ipmitool|ipmipower|ansible-playbook|ansible)\b/;

/** ipmitool and ansible processes of this lab that run although nothing is to be done. */
export const leakedTools = (folder: string): string[] =>
  processesOf(folder)
    .filter((p) =>
      p.argv
        .split(' ')
        .slice(0, 3)
        .some((word) => TOOLS.test(word)),
    )
    .map((p) => `${p.pid} ${p.argv.trim()}`);

/** Command lines in which a secret stands, by what the secret is called. */
export const secretsInArgv = (folder: string, secrets: Record<string, string>): string[] =>
  processesOf(folder).flatMap((p) =>
    Object.entries(secrets).flatMap(([name, value]) => (p.argv.includes(value) ? [`argv of ${p.pid} (${name})`] : [])),
  );

/** Texts in which a secret stands: where, and which. */
export const secretsInTexts = (texts: Record<string, string>, secrets: Record<string, string>): string[] =>
  Object.entries(texts).flatMap(([where, text]) =>
    Object.entries(secrets).flatMap(([name, value]) => (text.includes(value) ? [`${where} (${name})`] : [])),
  );

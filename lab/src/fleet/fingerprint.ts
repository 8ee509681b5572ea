import { MusterError } from '#contracts';
import type { Fleet } from './fleet.js';

/** What "nothing was touched" is proved by: hashes of files, and pid + start time of every service process. */
export interface Fingerprint {
  files: Record<string, string>;
  processes: Record<string, string>;
}

/**
 * Runs inside the host: hashes everything below the folders that provisioning writes to, and names every process
 * by unit-independent facts. What the agent keeps of its peers changes with the fleet, and is left out. sshd's own
 * children come and go with each login and are left out; its listener is not. So do the pings with which an agent looks
 * whether a silent peer lives.
 */
const look = (also: readonly string[]): string => `
root=\${MUSTER_ROOT:-}
find $root/etc/systemd/system $root/etc/muster* $root/usr/local/bin $root/var/lib/muster* ${also.map((d) => `$root${d}`).join(' ')} -type f ! -name '*.lock' ! -name 'peers*.json' ! -path '*/agent/*' 2>/dev/null | sort -u | xargs -r -d '\\n' sha256sum | sed 's/^/F /'
for p in /proc/[0-9]*; do
  pid=\${p#/proc/}
  line=$(tr '\\0' ' ' < $p/cmdline 2>/dev/null) || continue
  [ -n "$line" ] || continue
  case "$line" in *"for p in"*) continue;; *"[listener]"*) ;; *sshd*|*ansible*|sh\\ *|/bin/sh*|*sha256sum*|*muster-workload*|*workload.js*|*systemctl*|ping\\ -n\\ *) continue;; esac
  start=$(sed 's/.*) //' $p/stat 2>/dev/null | cut -d' ' -f20) || continue
  echo "P $pid@$start $line"
done
`;

/** @param also folders, beside those that Muster's own content writes to */
export async function fingerprint(fleet: Fleet, host: string, also: readonly string[] = []): Promise<Fingerprint> {
  const { stdout } = await fleet.lab<{ stdout: string }>('exec', host, '--', 'sh', '-c', look(also));
  const print: Fingerprint = { files: {}, processes: {} };
  for (const line of stdout.split('\n')) {
    const [, mark, key, rest] = /^([FP]) (\S+) +(.*)$/.exec(line) ?? [];
    if (mark === 'F' && key !== undefined && rest !== undefined) print.files[rest] = key;
    if (mark === 'P' && key !== undefined && rest !== undefined) print.processes[key] = rest.trim();
  }
  const empty = Object.keys(print.files).length === 0 || Object.keys(print.processes).length === 0;
  if (empty)
    throw new MusterError(
      'COMMAND_FAILED',
      `${host}: there is nothing to compare, its files or processes cannot be seen`,
    );
  return print;
}

/** Files that differ, and processes of before that are no longer there (restarted or gone). */
export function sameFingerprint(before: Fingerprint, after: Fingerprint): { files: string[]; processes: string[] } {
  const names = new Set([...Object.keys(before.files), ...Object.keys(after.files)]);
  return {
    files: [...names].filter((f) => before.files[f] !== after.files[f]),
    processes: Object.entries(before.processes).flatMap(([id, line]) => (id in after.processes ? [] : [line])),
  };
}

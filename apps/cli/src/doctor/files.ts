import { bad, ok, skipped, unknown, warn, type Finding } from './finding.js';

/** A file or folder that holds a secret, as this machine sees it. */
export interface FileFacts {
  path: string;
  /** It must be there. */
  needed: boolean;
  /** What it is, for people. */
  what: string;
  /** Absent: it is not there. `denied`: we may not look. */
  found?: 'denied' | { mode: number; uid: number; isFolder: boolean; isEmpty: boolean };
}

export interface LocalFacts {
  /** Folder of `muster.yaml`; absent: there is none on this machine, as far as we know. */
  dir?: string;
  files: readonly FileFacts[];
}

/** What is on this machine's disk: who else could read the keys. */
export function fileFindings({ dir, files }: LocalFacts): Finding[] {
  if (dir === undefined)
    return [
      skipped(
        'file.rights',
        'this machine',
        'no muster.yaml here: run it on a control host, or name its folder with --dir',
      ),
    ];
  const owners = new Set(files.flatMap((f) => (f.found === undefined || f.found === 'denied' ? [] : [f.found.uid])));
  return [
    ...files.map(fileFinding),
    ...(owners.size > 1
      ? [
          warn(
            'file.owner',
            dir,
            `its files belong to ${owners.size} users (${[...owners].sort((a, b) => a - b).join(', ')})`,
            `chown -R of ${dir} to the user that Muster runs as`,
          ),
        ]
      : []),
  ];
}

function fileFinding({ path, needed, what, found }: FileFacts): Finding {
  const check = 'file.rights';
  if (found === undefined) {
    if (!needed) return skipped(check, path, `${what} is not here`);
    return bad(
      check,
      path,
      `${what} is missing`,
      'restore it from a backup; muster init makes a new one only in a new installation',
    );
  }
  if (found === 'denied') return unknown(check, path, `${what} may not be looked at`, 'run muster doctor as root');
  const octal = (found.mode & 0o777).toString(8).padStart(3, '0');
  if ((found.mode & 0o077) !== 0) {
    const chmod = `chmod ${found.isFolder ? '700' : '600'} ${path}`;
    const others = (found.mode & 0o022) !== 0 ? 'others may write' : 'others may read';
    return bad(check, path, `${others} ${what} (mode ${octal})`, chmod);
  }
  if (found.isEmpty) return bad(check, path, `${what} is empty`, 'restore it from a backup');
  return ok(check, path, `${what}, mode ${octal}`);
}

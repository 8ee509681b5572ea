import { certificateEnd } from '#contracts/keys/certificate-end.js';
import { bad, ok, skipped, unknown, warn, type Finding } from './finding.js';

const AS_ROOT = 'run muster doctor as root';

/** A file or folder that holds a secret, as this machine sees it. */
export interface FileFacts {
  path: string;
  /** It must be there. */
  needed: boolean;
  /** It must not be there: it signs for more than this machine. @default false */
  isMisplaced?: boolean;
  /** What it is, for people. */
  what: string;
  /** What to do where it is needed and gone. @default out of a backup */
  remedy?: string;
  /** Absent: it is not there. `denied`: we may not look. */
  found?: 'denied' | { mode: number; uid: number; isFolder: boolean; isEmpty: boolean };
}

/** A certificate, as this machine sees it. */
export interface CertificateFacts {
  path: string;
  /** What it is, for people. */
  what: string;
  /** How another one is made: a command, or a sentence. */
  remedy: string;
  /** Absent: it is not there. `denied`: we may not look. `none`: it is no certificate. `endsAt`: ms of the wall clock. */
  found?: 'denied' | 'none' | { endsAt: number };
}

export interface LocalFacts {
  /** Folder of `muster.yaml`; absent: there is none on this machine, as far as we know. */
  dir?: string;
  files: readonly FileFacts[];
  /** All of them must be there. @default none */
  certificates?: readonly CertificateFacts[];
}

/**
 * What is on this machine's disk: who else could read the keys, what is gone, and when certificates end.
 * @param now ms of the wall clock
 */
export function fileFindings({ dir, files, certificates = [] }: LocalFacts, now: number): Finding[] {
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
    ...files.flatMap(placeFinding),
    ...certificates.map((certificate) => certificateFinding(certificate, now)),
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

const BACKUP = 'restore it from a backup; muster init makes a new one only in a new installation';

function fileFinding({ path, needed, what, found, remedy = BACKUP }: FileFacts): Finding {
  const check = 'file.rights';
  if (found === undefined) {
    if (!needed) return skipped(check, path, `${what} is not here`);
    return bad(check, path, `${what} is missing`, remedy);
  }
  if (found === 'denied') return unknown(check, path, `${what} may not be looked at`, AS_ROOT);
  const octal = (found.mode & 0o777).toString(8).padStart(3, '0');
  if ((found.mode & 0o077) !== 0) {
    const chmod = `chmod ${found.isFolder ? '700' : '600'} ${path}`;
    const others = (found.mode & 0o022) !== 0 ? 'others may write' : 'others may read';
    return bad(check, path, `${others} ${what} (mode ${octal})`, chmod);
  }
  if (found.isEmpty) return bad(check, path, `${what} is empty`, 'restore it from a backup');
  return ok(check, path, `${what}, mode ${octal}`);
}

function placeFinding({ path, isMisplaced = false, what, found }: FileFacts): Finding[] {
  if (!isMisplaced || found === undefined) return [];
  return [
    warn(
      'file.place',
      path,
      `${what} is on a control host, of which a stolen one is enough then`,
      `keep it with the folder of muster init --hosts, and delete ${path}`,
    ),
  ];
}

function certificateFinding({ path, what, remedy, found }: CertificateFacts, now: number): Finding {
  const check = 'cert.ends';
  if (found === undefined) return bad(check, path, `${what} is missing`, remedy);
  if (found === 'denied') return unknown(check, path, `${what} may not be looked at`, AS_ROOT);
  if (found === 'none') return bad(check, path, `${what} is no certificate (PEM)`, remedy);
  const day = new Date(found.endsAt).toISOString().slice(0, 10);
  const end = certificateEnd(found.endsAt, now);
  if (end === 'far') return ok(check, path, `${what}, until ${day}`);
  if (end === 'ended') return bad(check, path, `${what} has ended: ${day}`, remedy);
  return (end === 'urgent' ? bad : warn)(check, path, `${what} ends ${day}`, remedy);
}

import { execaSync } from 'execa';

/** The path of a nats-server that is newer than the system's, or why there is none. */
export function newerNats(): { program: string } | { missing: string } {
  const found = execaSync(process.execPath, ['scripts/setup/newer-nats.mjs'], { timeout: 60_000, reject: false });
  return found.failed
    ? { missing: found.stderr || found.shortMessage || 'no reason was given' }
    : { program: found.stdout.trim() };
}

/** Servers to try the same on: what it is called, and its program, undefined for the one that specs run against. */
export function installedAndNewer(): [name: string, program: string | undefined][] {
  const newer = newerNats();
  if ('missing' in newer) process.stderr.write(`only the installed nats-server is tried: ${newer.missing}\n`);
  return [
    ['the installed nats-server', undefined],
    ...('program' in newer ? [['a newer nats-server', newer.program] as [string, string]] : []),
  ];
}

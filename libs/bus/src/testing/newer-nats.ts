import { execaSync } from 'execa';

/** The path of a nats-server that is newer than the system's, or why there is none. */
export function newerNats(): { program: string } | { missing: string } {
  const found = execaSync(process.execPath, ['scripts/setup/newer-nats.mjs'], { timeout: 60_000, reject: false });
  return found.failed
    ? { missing: found.stderr || found.shortMessage || 'no reason was given' }
    : { program: found.stdout.trim() };
}

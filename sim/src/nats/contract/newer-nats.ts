import { execFileSync } from 'node:child_process';

/** The path of a nats-server that is newer than the system's, or why there is none. */
export function newerNats(): { program: string } | { missing: string } {
  try {
    const stdout = execFileSync(process.execPath, ['scripts/setup/newer-nats.mjs'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    return { program: stdout.trim() };
  } catch (e) {
    const stderr = e instanceof Error && 'stderr' in e ? String(e.stderr).trim() : '';
    return { missing: stderr || String(e) };
  }
}

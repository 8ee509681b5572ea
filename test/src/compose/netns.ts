import { existsSync } from 'node:fs';
import { execa } from 'execa';

/** The program `ip`. */
export const ip = (...args: string[]) => execa('ip', args);

/** A network namespace by its name, where there is one. What keeps it from going is told, and the tidying up goes on. */
export async function removeNetns(name: string): Promise<void> {
  if (!existsSync(`/run/netns/${name}`)) return;
  await ip('netns', 'del', name).catch((e: unknown) =>
    process.stderr.write(`network namespace ${name} is left: ${e instanceof Error ? e.message : String(e)}\n`),
  );
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { execa } from 'execa';
import { connectBus } from '#bus';
import { ReadyStream, type ServiceName } from '#contracts';

/** How each of these services ends that is started for these servers: exit code and all that it has said. */
async function starts(
  services: readonly ServiceName[],
  servers: readonly string[],
  replicas: number,
): Promise<{ service: string; exitCode: number | undefined; stderr: string }[]> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-servers-'));
  const config = join(folder, 'muster.yaml');
  writeFileSync(
    config,
    JSON.stringify({ nats: { servers }, replicas, credentials: 'none', http: { listen: '127.0.0.1:1' } }),
  );
  const ends = await Promise.all(
    services.map(async (service) => {
      const main = fileURLToPath(new URL(`../../../../dist/apps/${service}/src/main.js`, import.meta.url));
      const { exitCode, stderr } = await execa(process.execPath, [main], {
        env: { MUSTER_CONFIG: config, MUSTER_DATA_DIR: join(folder, service) },
        reject: false,
      });
      return { service, exitCode, stderr };
    }),
  );
  rmSync(folder, { recursive: true });
  return ends;
}

/** Each of these services ends at once, in one line, and has made nothing. */
export async function refuseInOneLine(
  services: readonly ServiceName[],
  servers: readonly string[],
  replicas: number,
  why: RegExp,
): Promise<void> {
  for (const { service, exitCode, stderr } of await starts(services, servers, replicas)) {
    const [line, ...more] = stderr.split('\n');
    expect([service, exitCode, line, more]).toEqual([service, 1, expect.stringMatching(why), []]);
    expect(line).toContain(`muster ${service}: `);
  }
  const bus = await connectBus({ name: 'spec', servers: [servers[0]!] });
  expect(await bus.hasStream(ReadyStream.name).catch((e: unknown) => e)).not.toBe(true);
  await bus.close();
}

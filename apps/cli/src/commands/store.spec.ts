import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingsOf } from './store.js';

describe('the store that is copied', () => {
  let dir: string;
  beforeAll(() => (dir = mkdtempSync(join(tmpdir(), 'muster-store-'))));
  afterAll(() => rmSync(dir, { recursive: true }));
  const written = (text: string): void => writeFileSync(join(dir, 'muster.yaml'), text);
  const refusal = (text: string): Promise<string> => {
    written(text);
    return settingsOf({ dir }).then(
      () => 'taken',
      (e: Error) => `${e.name}: ${e.message}`,
    );
  };

  it('is on the servers of muster.yaml, unless others are named, in as many copies as it says', async () => {
    written('nats: {servers: ["nats://10.0.0.1:4222", "nats://10.0.0.2:4222"]}\nreplicas: 3\n');
    expect(await settingsOf({ dir })).toEqual({
      servers: ['nats://10.0.0.1:4222', 'nats://10.0.0.2:4222'],
      replicas: 3,
    });
    expect(await settingsOf({ dir, nats: 'nats://a:1,nats://b:2' })).toEqual({
      servers: ['nats://a:1', 'nats://b:2'],
      replicas: 3,
    });
    const env = { MUSTER_NATS: 'nats://c:1' };
    expect((await settingsOf({ dir }, env)).servers).toEqual(['nats://c:1']);
    expect((await settingsOf({ dir, nats: 'nats://a:1' }, env)).servers).toEqual(['nats://a:1']);
    written('cluster: prod\n');
    expect(await settingsOf({ dir })).toEqual({ servers: ['nats://127.0.0.1:4222'], replicas: 1 });
  });

  it('is not touched where muster.yaml is wrong, and the value is named', async () => {
    const file = join(dir, 'muster.yaml');
    expect(await refusal('nats: {servers: nats://10.0.0.1:4222}\n')).toContain(`Failure: ${file}: nats.servers`);
    expect(await refusal('nats: {servers: [10.0.0.1]}\n')).toContain('nats://host:port');
    expect(await refusal('replicas: 2\n')).toContain(`Failure: ${file}: replicas`);
    expect(await refusal('nats: [\n')).toContain(`Failure: ${file}: `);
    rmSync(file);
    expect(await settingsOf({ dir }).catch((e: Error) => `${e.name}: ${e.message}`)).toContain(
      `Failure: ${file}: ENOENT`,
    );
  });
});

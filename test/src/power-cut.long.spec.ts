import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { connectBus } from '#bus';
import { anyJson } from '#bus/testing/any-json.js';
import { startTestCluster, whenClusterServes } from '#bus/testing/nats-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { edit, lostEdits, type Edit } from '../../bench/src/server-loss/edits.js';
import {
  copyStoreImage,
  makeCloningDisk,
  makeStoreImage,
  removeStoreImages,
  useCopiedImage,
} from '../../lab/src/faults/store-images.js';
import { LabFolder } from '../../lab/src/folder.js';
import { planLab } from '../../lab/src/plan.js';
import { run } from '../../lab/src/run.js';

/** So many at once, each again as soon as it is answered. */
const WRITERS = 4;
/** Below the 5 s after which ext4 commits by itself, ms. */
const WRITES_MS = 2_500;

const newer = newerNats();
const why =
  'missing' in newer
    ? newer.missing
    : process.getuid?.() !== 0
      ? 'only root may mount'
      : execaSync('mkfs.xfs', ['-V'], { reject: false }).failed
        ? 'mkfs.xfs is missing: apt-get install xfsprogs'
        : undefined;
const name = 'three nats-servers that all lose their power at once';

/** What V7p rests on: its disks lose what was not synced, or it could not fail. */
(why === undefined ? describe : describe.skip)(why === undefined ? name : `${name} (skipped: ${why})`, () => {
  it('lose nothing that they acknowledged where they sync before they do', async () => {
    const { acknowledged, lost } = await cutUnderWrites({ sync: true });
    expect(acknowledged).toBeGreaterThan(0);
    expect(lost).toEqual([]);
  });

  it('lose some of it where they do not', async () => {
    const { acknowledged, lost } = await cutUnderWrites({ sync: false });
    expect(acknowledged).toBeGreaterThan(0);
    expect(lost.length).toBeGreaterThan(0);
  });
});

async function cutUnderWrites({ sync }: { sync: boolean }): Promise<{ acknowledged: number; lost: Edit[] }> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-power-'));
  const folder = new LabFolder(dir);
  const { controls } = planLab(dir, 'netns', 1, 0, 0, 3);
  const stores = controls.map((c) => folder.at('etc', c.name, 'store'));
  const each = (work: (i: number) => Promise<unknown>): Promise<unknown> => Promise.all(stores.map((_, i) => work(i)));
  try {
    await makeCloningDisk(folder);
    await each((i) => makeStoreImage(folder, controls[i]!, stores[i]!));
    const program = 'program' in newer ? newer.program : '';
    const cluster = await startTestCluster({ program, sync, stores });
    const bus = await connectBus({
      name: 'power-cut',
      servers: cluster.urls,
      // What is written here are no records of this bucket.
      codec: {
        ...anyJson,
        decode: (_bucket, _key, text) => ({ value: text === '' ? {} : (JSON.parse(text) as object) }),
      },
    });
    try {
      await whenClusterServes(() => bus.createBuckets({ replicas: 3 }));
      // What was there before is on the disks in any case.
      await each((i) => run('sync', ['-f', stores[i]!]));
      const bucket = bus.bucket<object>('workloads');
      const edits: Edit[] = [];
      const end = performance.now() + WRITES_MS;
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; performance.now() < end; n += 1) {
          const key = `edit.${writer}.${n}`;
          edits.push(
            await edit(
              'workloads',
              key,
              () => bucket.create(key, { key }),
              () => performance.now(),
            ),
          );
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      // Still, and not dead: a process that ends has its files closed.
      await each((i) => cluster.members[i]!.pause());
      await each((i) => copyStoreImage(folder, controls[i]!));
      await each((i) => cluster.members[i]!.kill());
      await each((i) => useCopiedImage(folder, controls[i]!, stores[i]!));
      await each((i) => cluster.members[i]!.start());
      const stored = await whenClusterServes(async () => {
        // A leader that was just elected has applied all that its log holds once it takes a write.
        await bucket.delete('edit.last', undefined, { timeoutMs: 2_000 });
        return bucket.list();
      });
      return { acknowledged: edits.filter((e) => e.revision !== undefined).length, lost: lostEdits(edits, stored) };
    } finally {
      await bus.close();
      await cluster.stop();
    }
  } finally {
    await removeStoreImages(folder);
    await rm(dir, { recursive: true, force: true });
  }
}

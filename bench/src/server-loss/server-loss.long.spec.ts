import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '#bus';
import { startTestCluster, type ClusterMember, type TestCluster } from '#bus/testing/nats-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { editingBus, Edits, whole } from './editing.js';
import { wronglyRefused } from './edits.js';

const KILLS = 20;
const LEAST_EDITS = 1_000;
/** Before the kill, ms. */
const WARM_MS = 500;
/** From the kill on, ms: most elections are over by then; writers go on until they are heard again. */
const AFTER_MS = 5_000;

const newer = newerNats();
const title = `${LEAST_EDITS} edits during ${KILLS} kills of one of three servers`;

('program' in newer ? describe : describe.skip)(
  'program' in newer ? title : `${title} (skipped: ${newer.missing})`,
  () => {
    let cluster: TestCluster;
    let bus: Bus;
    beforeAll(async () => {
      cluster = await startTestCluster({ program: 'program' in newer ? newer.program : '', users: true });
      bus = await editingBus(cluster);
    });
    afterAll(async () => {
      await bus?.close();
      await cluster?.stop();
    });

    it(
      'lose nothing that was acknowledged, and refuse nobody as if another had been faster',
      async () => {
        const edits = new Edits(bus);
        for (let kill = 0; kill < KILLS; kill++) {
          await whole(bus);
          const victim = cluster.members[kill % cluster.members.length] as ClusterMember;
          const writing = edits.begin();
          await pause(WARM_MS);
          await victim.kill();
          await pause(AFTER_MS);
          await writing.end();
          await victim.start();
        }
        await whole(bus);
        expect(await edits.lost()).toEqual([]);
        expect(wronglyRefused(edits.all)).toEqual([]);
        expect(edits.all.filter((e) => e.revision !== undefined).length).toBeGreaterThanOrEqual(LEAST_EDITS);
      },
      KILLS * 180_000,
    );
  },
);

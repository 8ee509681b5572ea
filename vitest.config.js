import { defineConfig } from 'vitest/config';
import { freshPageUs, isDear } from './scripts/tests/fresh-memory.mjs';
import LongestFirst from './scripts/tests/longest-first.mjs';

/** Of one test or hook. Real processes on a machine that may be busy with others: it ends what hangs, and measures nothing. */
const LONGEST_MS = 180_000 * Number(process.env.MUSTER_RUNS_FACTOR || 1);

/**
 * Of two cores: specs wait for leases, heartbeats and real processes; with eight, the cores are always busy (with six:
 * 75 %). Where each start of a process is dear, four keep them busy.
 */
const WORKERS = isDear(freshPageUs()) ? 4 : 8;

/** Specs stand beside the code and run against a real nats-server; scenarios (test/) run in the lab, by their own runner. */
export default defineConfig({
  test: {
    include: ['{libs,apps,lab,bench,sim,test}/**/*.spec.ts'],
    // Those run by `npm run test:long`, with vitest.long.config.js.
    exclude: ['**/*.long.spec.ts'],
    // A worker runs many files, one after the other, and loads each module once.
    pool: 'forks',
    isolate: false,
    maxWorkers: WORKERS,
    testTimeout: LONGEST_MS,
    hookTimeout: LONGEST_MS,
    // What is fork-ed ends within, on a machine that is busy with others, too.
    teardownTimeout: 20_000,
    runner: './scripts/tests/runner.mjs',
    // Node itself imports all of it (scripts/tests/source-hooks.mjs): code that computes is as quick as it is when it ships.
    server: { deps: { external: [/\.ts$/, /\/scripts\/tests\//] } },
    globalSetup: './libs/bus/src/testing/choose-nats.mjs',
    sequence: { sequencer: LongestFirst, hooks: 'list' },
    disableConsoleIntercept: true,
    // What waits for real processes is long, and no matter.
    slowTestThreshold: 30_000,
    watch: false,
  },
});

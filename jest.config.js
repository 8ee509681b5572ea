import { fileOf, linkedPackages } from './scripts/tests/linked-packages.mjs';

/** Specs stand beside the code and run against a real nats-server; scenarios (test/) run in the lab, by their own runner. */
export default {
  // Of two cores: the longest specs wait for leases, heartbeats and real processes, and need little CPU meanwhile.
  maxWorkers: 6,
  // To free its hundreds of megabytes takes a worker that has nothing left to do longer than Jest's 500 ms on a busy machine.
  workerGracefulExitTimeout: 20_000,
  // Of one test or hook. Real processes on a machine that may be busy with others: it ends what hangs, and measures nothing.
  testTimeout: 180_000 * Number(process.env.MUSTER_RUNS_FACTOR || 1),
  testEnvironment: '<rootDir>/scripts/tests/leaves-nothing.mjs',
  testSequencer: '<rootDir>/scripts/tests/longest-first.mjs',
  globalSetup: '<rootDir>/scripts/tests/before-all.mjs',
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/lab', '<rootDir>/bench', '<rootDir>/sim', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // Those run by `npm run test:long`, with jest.long.config.js.
  testPathIgnorePatterns: ['/node_modules/', '\\.long\\.spec\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#contracts$': '<rootDir>/libs/contracts/src/index.ts',
    '^#contracts/(.*)\\.js$': '<rootDir>/libs/contracts/src/$1.ts',
    '^#bus$': '<rootDir>/libs/bus/src/index.ts',
    '^#bus/(.*)\\.js$': '<rootDir>/libs/bus/src/$1.ts',
    '^#domain/(.*)\\.js$': '<rootDir>/libs/domain/src/$1.ts',
    '^#probe/(.*)\\.js$': '<rootDir>/libs/probe/src/$1.ts',
    '^#service$': '<rootDir>/libs/service/src/index.ts',
    ...Object.fromEntries(linkedPackages.map((name) => [`^${name}$`, fileOf(name)])),
    // With the seed and the runs of this run.
    '^fast-check$': '<rootDir>/scripts/tests/fast-check.mjs',
    // The same code from the same package, in one file instead of hundreds: each spec file loads it anew.
    '^class-validator$': '<rootDir>/node_modules/class-validator/bundles/class-validator.umd.js',
    '^rxjs$': '<rootDir>/node_modules/rxjs/dist/bundles/rxjs.umd.js',
    '^rxjs/operators$': '<rootDir>/scripts/tests/rxjs-operators.cjs',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
};

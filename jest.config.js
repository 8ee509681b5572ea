/** Specs stand beside the code and run against a real nats-server; scenarios (test/) run in the lab, by their own runner. */
export default {
  // Jest would leave one of two cores idle; most of our specs wait for real processes rather than compute.
  maxWorkers: 4,
  // To free its hundreds of megabytes takes a worker that has nothing left to do longer than Jest's 500 ms on a busy machine.
  workerGracefulExitTimeout: 20_000,
  // Of one test or hook. Real processes on a machine that may be busy with others: it ends what hangs, and measures nothing.
  testTimeout: 180_000 * Number(process.env.MUSTER_RUNS_FACTOR || 1),
  testEnvironment: '<rootDir>/scripts/tests/leaves-nothing.mjs',
  testSequencer: '<rootDir>/scripts/tests/longest-first.mjs',
  globalSetup: '<rootDir>/libs/bus/src/testing/choose-nats.mjs',
  setupFiles: ['<rootDir>/libs/contracts/src/testing/properties.setup.ts'],
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
    '^#service$': '<rootDir>/libs/service/src/index.ts',
    // The same code from the same package, in one file instead of hundreds: each spec file loads it anew.
    '^class-validator$': '<rootDir>/node_modules/class-validator/bundles/class-validator.umd.js',
    '^rxjs$': '<rootDir>/node_modules/rxjs/dist/bundles/rxjs.umd.js',
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

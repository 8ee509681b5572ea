/** Specs stand beside the code and run against a real nats-server; scenarios (test/) run in the lab, by their own runner. */
export default {
  // Jest would leave one of two cores idle; most of our specs wait for real processes rather than compute.
  maxWorkers: 3,
  testEnvironment: 'node',
  globalSetup: '<rootDir>/libs/bus/src/testing/choose-nats.mjs',
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/lab'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#contracts$': '<rootDir>/libs/contracts/src/index.ts',
    '^#contracts/(.*)\\.js$': '<rootDir>/libs/contracts/src/$1.ts',
    '^#bus$': '<rootDir>/libs/bus/src/index.ts',
    '^#bus/(.*)\\.js$': '<rootDir>/libs/bus/src/$1.ts',
    '^#service$': '<rootDir>/libs/service/src/index.ts',
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

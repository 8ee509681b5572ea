import config from './jest.config.js';

/** The specs that take minutes: `npm run test:long` runs them, `npm test` does not. */
export default { ...config, testMatch: ['**/*.long.spec.ts'], testPathIgnorePatterns: ['/node_modules/'] };

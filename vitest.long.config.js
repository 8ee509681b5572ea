import config from './vitest.config.js';

/** The specs that take minutes: `npm run test:long` runs them, `npm test` does not. */
export default {
  ...config,
  test: { ...config.test, include: ['**/*.long.spec.ts'], exclude: ['**/node_modules/**', 'dist/**'] },
};

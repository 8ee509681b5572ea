import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withVerdictTables } from './verdict-tables.js';

/** `node dist/apps/detector/src/testing/write-verdict-tables.js`: brings the tables of docs/detection.md up to date. */
const file = fileURLToPath(new URL('../../../../../docs/detection.md', import.meta.url));
writeFileSync(file, withVerdictTables(readFileSync(file, 'utf8')));

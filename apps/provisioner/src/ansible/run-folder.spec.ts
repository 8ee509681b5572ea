import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunFolder } from './run-folder.js';

describe('the folder of a run', () => {
  it('of a killed predecessor with the same process number is removed, those in use stay', async () => {
    const left = await mkdtemp(join(tmpdir(), `muster-run-${process.pid}-`));
    const others = await mkdtemp(join(tmpdir(), `muster-run-${process.ppid}-`));
    const mine = await RunFolder.create();
    try {
      await RunFolder.removeAbandoned();
      expect(existsSync(left)).toBe(false);
      expect(existsSync(mine.path)).toBe(true);
      expect(existsSync(others)).toBe(true);
      await mine.remove();
      expect(existsSync(mine.path)).toBe(false);
    } finally {
      await rm(others, { recursive: true });
    }
  });
});

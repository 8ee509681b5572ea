import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import type { Received } from '../testing/muster.js';
import { MusterWithNodes } from '../testing/nodes.js';

describe('files of nodes', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => sut.reset());

  it('are imported by their ending, or as --format says', async () => {
    sut.on('POST /v1/nodes/import', { dryRun: true, created: ['a-1'], updated: [], unchanged: ['b-2'] });
    const { stdout } = await sut.call(['nodes', 'import', sut.file('fleet.csv', 'label,serial\n'), '--dry-run']);
    expect(stdout).toBe('a-1: would be: created\nb-2: would be: unchanged\n');
    await sut.call(['nodes', 'import', '-', '--format', 'yaml'], { stdin: 'nodes: []\n' });
    expect(sut.sent('POST')).toEqual([
      { format: 'csv', content: 'label,serial\n', dryRun: true },
      { format: 'yaml', content: 'nodes: []\n' },
    ]);
    expect((await sut.call(['nodes', 'import', '-'])).code).toBe(2);
  });

  it('that are wrong say where, line by line', async () => {
    const errors = [
      { line: 3, message: 'label: may not hold "="' },
      { line: 7, message: 'networks.management.address: 10.0.0.1 is taken by line 3' },
    ];
    sut.on(
      'POST /v1/nodes/import',
      { code: 'IMPORT_INVALID', detail: 'nothing is imported: line 3: …', errors, found: 102 },
      400,
    );
    const name = sut.file('bad.yaml', 'x');
    expect(await sut.call(['nodes', 'import', name])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${name}:3: label: may not hold "="\n${name}:7: networks.management.address: 10.0.0.1 is taken by line 3\nmuster: nothing is imported: 102 found to be wrong, of which the first 2 are shown\n`,
    });
  });

  it('that are too long are not sent', async () => {
    const { code, stderr } = await sut.call(['nodes', 'import', sut.file('long.csv', 'x'.repeat(1_000_001))]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/long\.csv: .*; split it\n$/)]);
    expect(sut.received).toEqual([]);
  });

  it('are exported as they come', async () => {
    sut.on('GET /v1/nodes/export', (_: Received, res: ServerResponse) => res.end('nodes:\n  - label: a\n'));
    const { stdout } = await sut.call(['nodes', 'export', '-l', 'vars.rack=r1']);
    expect(stdout).toBe('nodes:\n  - label: a\n');
    expect(sut.received[0]?.url).toBe('/v1/nodes/export?format=yaml&selector=vars.rack%3Dr1');
  });
});

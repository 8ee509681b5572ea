import { describe, expect, it } from 'vitest';
import { incidentReport, type IncidentRecord } from '#contracts';
import { incidentMarkdown } from './incident-markdown.js';

const T0 = 1_700_000_000_000;
const incident: IncidentRecord = {
  ...{ id: 'i-1', node: 'a-1', phase: 'suppressed', gate: 'BRAKE', cause: 'auto' },
  ...{ reason: 'silent | dead\nsince 3 s', openedAt: T0 },
  ...{ updatedAt: T0 + 1_000, conductor: 1, level: 0, attempt: 1, recovery: [] },
  gates: [{ gate: 'BRAKE', pass: false, detail: '2 of 2' }],
  commands: [
    {
      ...{ n: 1, epoch: 4, fencer: 'f-1', level: 0, device: 'bmc', verb: 'off', at: T0 + 500, tookMs: 300 },
      result: { ok: false, code: 'UNREACHABLE', detail: 'no answer of 10.2.0.1:623' },
    },
  ],
  steps: [
    { phase: 'open', at: T0, detail: 'DOWN' },
    { phase: 'suppressed', at: T0 + 100, detail: 'BRAKE: 2 of 2' },
  ],
};
const text = incidentMarkdown(incidentReport({ incident, events: [], jobs: [], cut: false }));

describe('a report as Markdown', () => {
  it('begins with what happened and what is open, and has every part', () => {
    expect(text.match(/^#+ .*$/gm)).toEqual([
      '# Incident i-1: a-1',
      '## What happened',
      '## What is open',
      '## Evidence',
      '## Decisions',
      '## Gates',
      '## Commands',
      '## What moved',
      '## What people did',
      '## Jobs',
      '## Timeline',
      '## What this report cannot tell',
    ]);
    expect(text).toContain('Opened 2023-11-14T22:13:20.000Z (auto); blocked by BRAKE, last changed ');
    expect(text).toContain('| 2023-11-14T22:13:20.100Z | +0.10 s | blocked by BRAKE: 2 of 2 |');
    expect(text).not.toContain('suppressed');
    expect(text).toContain('- It waits at its gates (BRAKE: 2 of 2).\n');
    expect(text).toContain('| BRAKE | **stop** | 2 of 2 |');
    expect(text).toContain(
      '| 1 | 2023-11-14T22:13:20.500Z | +0.50 s | off bmc (level 1) | f-1 (token 4) | failed in 0.30 s (UNREACHABLE: no answer of 10.2.0.1:623) |',
    );
    expect(text).toContain('There is no proof that it was off.');
  });

  it('lets nothing that somebody said end a line or a cell', () => {
    expect(text).toContain(String.raw`silent \| dead since 3 s`);
  });
});

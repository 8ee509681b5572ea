import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { IncidentPhases } from '#contracts/incident/incident.js';
import { JobStatuses } from '#contracts/job/job.js';
import { NodeStatuses } from '#contracts/node/node.js';
import { phaseChanges } from '#domain/incident/phases.js';
import { jobChanges } from '#domain/job/changes.js';
import { workloadChanges } from '#domain/workload/changes.js';
import { WorkloadStages } from '#domain/workload/stage.js';
import { stateDiagram } from './markdown.js';
import { statesPage } from './states-page.js';

const page = readFileSync(new URL('../../../../docs/states.md', import.meta.url), 'utf8');
/** From a head of the page to the next one of its rank. */
const section = (head: string): string => page.split(/^## /m).find((part) => part.startsWith(head)) ?? '';

describe('docs/states.md', () => {
  it('is what the code says; if not: muster manual states > docs/states.md', () => {
    expect(page).toBe(statesPage());
  });

  it.each([
    ['Incident', IncidentPhases],
    ['Workload', WorkloadStages],
    ['Job', JobStatuses],
    ['Node', NodeStatuses],
  ] as const)('has a row for each state of a %s, and each in its picture', (head, states) => {
    const drawn = section(head).split('```')[1] ?? '';
    for (const state of states) {
      expect(section(head)).toMatch(new RegExp(`^\\| \`${state}\` +\\| [^|]+\\. +\\| [^|]+\\. +\\|$`, 'm'));
      expect(drawn).toContain(state);
    }
  });

  it('draws every change of an incident, and lists every change of a workload and of a job', () => {
    for (const { from, to } of phaseChanges) expect(section('Incident')).toContain(`    ${from} --> ${to}: `);
    for (const kind of Object.keys(workloadChanges)) expect(section('Workload')).toContain(`| \`${kind}\` `);
    for (const kind of Object.keys(jobChanges)) expect(section('Job')).toContain(`| \`${kind}\` `);
  });
});

describe('a picture of states', () => {
  it('has one arrow between two states, and names with a hyphen under another one', () => {
    const arrows = [
      { from: 'start-owed', to: 'idle', label: 'a' },
      { from: 'start-owed', to: 'idle', label: 'b' },
      { from: 'idle', to: '[*]' },
    ];
    expect(stateDiagram(arrows)).toBe(
      [
        '```mermaid',
        'stateDiagram-v2',
        '    state "start-owed" as start_owed',
        '    start_owed --> idle: a, b',
        '    idle --> [*]',
        '```',
      ].join('\n'),
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { StreamedEvent } from '../server/event-stream.js';
import { collapseEvents } from './collapse-events.js';

let seq = 0;
const verdict = (node: string, kind: string, at: number): StreamedEvent => ({
  seq: ++seq,
  kind: 'verdict',
  key: node,
  at,
  source: 'd',
  data: { node, verdict: kind, networks: [], reason: 'r' },
});
const job: StreamedEvent = { seq: 0, kind: 'job', key: 'j1', at: 3, source: 'i', data: {} };
const told = (events: StreamedEvent[]): string[] =>
  collapseEvents(events).map((r) => ('event' in r ? `${r.event.kind} ${r.event.key}` : r.text));

describe('events that came together', () => {
  it('are one line where many nodes got one verdict, and everything else stays where it was', () => {
    const names = Array.from({ length: 8 }, (_, i) => `n-${i}`);
    const storm = names.flatMap((n, i) => [
      verdict(n, 'SUSPECT', i),
      ...(i === 3 ? [job] : []),
      verdict(n, 'UP', i + 1),
    ]);
    expect(told([...storm, verdict('n-1', 'SUSPECT', 9)])).toEqual([
      '8 nodes SUSPECT, 9 times: n-0, n-1, n-2, n-3, n-4 and 3 more (--all tells each)',
      '8 nodes UP: n-0, n-1, n-2, n-3, n-4 and 3 more (--all tells each)',
      'job j1',
    ]);
  });

  it('stay single where they are few, or far apart', () => {
    expect(told([verdict('a-1', 'DOWN', 0), verdict('b-2', 'DOWN', 1), verdict('c-3', 'DOWN', 2)])).toHaveLength(3);
    const apart = Array.from({ length: 6 }, (_, i) => verdict(`n-${i}`, 'DOWN', i * 6_000));
    expect(told(apart)).toHaveLength(6);
  });

  it('of two minutes on a starved fleet of 200 nodes are fewer than a hundred lines', () => {
    const flood = Array.from({ length: 992 }, (_, i) =>
      verdict(`n-${i % 204}`, ['SUSPECT', 'UP', 'DEGRADED'][i % 3] as string, Math.round((i * 120_000) / 992)),
    );
    expect(collapseEvents(flood).length).toBeLessThan(100);
  });
});

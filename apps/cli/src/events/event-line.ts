import { stepText, type AlarmRecord, type EventMap, type Verdict } from '#contracts';
import type { StreamedEvent } from '../server/event-stream.js';
import { resultText } from '../jobs/node-progress.js';
import { oneLine } from '../output/one-line.js';
import type { Colour, Terminal } from '../output/terminal.js';
import { clock } from '../output/times.js';

const colours: Record<string, Colour> = {
  verdict: 'cyan',
  incident: 'red',
  alarm: 'yellow',
  'out-of-service': 'yellow',
  degraded: 'yellow',
  'in-service': 'green',
};

type Sentences = { [K in keyof EventMap]?: (data: EventMap[K]) => string };

/** What happened, in a few words; kinds that are not here speak for themselves. */
const sentences: Sentences & { verdict: (v: Verdict) => string } = {
  verdict: (v) => `${v.verdict}${v.networks.length > 0 ? ` (${v.networks.join(', ')})` : ''}: ${v.reason}`,
  incident: stepText,
  'node-status': (s) => `${s.prev} → ${s.status}`,
  'node-state': (s) => `${s.prev} → ${s.state}: ${s.reason}`,
  discovered: (l) => l.nodes.join(' '),
  disappeared: (l) => l.nodes.join(' '),
  degraded: (d) => `silent on ${d.networks.join(', ')}`,
  check: (c) =>
    c.pass
      ? 'pass'
      : `fail: ${c.result.findings
          .filter((f) => f.result !== 'ok')
          .map((f) => `${f.service} ${f.result} (${f.why})`)
          .join('; ')}`,
  resetup: (r) => (r.ok ? 'ok' : 'failed'),
  'out-of-service': (o) => o.reasons.join('; '),
  'node-edited': (e) => e.fields.join(', '),
  settings: (s) => s.changed.join(', '),
  'monitor-event': (m) => `${m.by}: ${m.change} ${m.nodes.length} nodes`,
  claim: (c) => `${c.change} for ${c.owner}: ${c.nodes.join(' ')}`,
  job: (j) => `${j.kind} ${j.status}${j.error === '' ? '' : `: ${j.error}`} [${j.nodes.join(' ')}]`,
  'job-node': (j) => `${j.node} ${resultText(j.result)}`,
  workload: (w) => `${w.change}${w.node === undefined ? '' : ` on ${w.node}`} (generation ${w.generation})`,
  alarm: (a: AlarmRecord) => `${a.cleared === undefined ? 'raised' : 'cleared'} ${a.code} ${a.subject}: ${a.message}`,
  driver: (d) => `${d.offered ? 'offered' : 'missing'} (${d.nodesAffected} nodes)`,
  'dead-letter': (d) => `${d.subject} is not offered to ${d.consumer} any more: ${d.error}`,
  audit: (a) =>
    `${a.by}${a.from === undefined ? '' : ` from ${a.from}`}: ${a.action} ${a.outcome}${a.detail === '' ? '' : `: ${a.detail}`}`,
};

/** Many verdicts of one kind in one line of a terminal. */
export const groupLine = (at: number, text: string, terminal: Terminal): string =>
  `${terminal.paint('dim', clock(at))}  ${terminal.paint('cyan', 'verdict'.padEnd(14))}  ${oneLine(text)}`;

/** One line; on a terminal with the time of day, in a pipe with the whole date. */
export function eventLine(event: StreamedEvent, terminal: Terminal): string {
  const say = sentences[event.kind as keyof typeof sentences] as ((data: unknown) => string) | undefined;
  const words = oneLine(say === undefined ? '' : say(event.data));
  if (!terminal.interactive) {
    const what = `${new Date(event.at).toISOString()} ${event.kind} ${event.key}`;
    return words === '' ? what : `${what}: ${words}`;
  }
  const colour = colours[event.kind];
  const kind = event.kind.padEnd(14);
  return `${terminal.paint('dim', clock(event.at))}  ${colour ? terminal.paint(colour, kind) : kind}  ${event.key}  ${words}`.trimEnd();
}

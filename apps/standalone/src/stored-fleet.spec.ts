import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSecret, type SealedSecret } from '#bus';
import { IncidentPhases, type IncidentRecord, type StatusView } from '#contracts';
import {
  FIXTURE_SECRETS_KEY,
  lastValues,
  readStoredLines,
  StoredFleet,
  type RecordedAnswers,
  type StoredLine,
} from './testing/stored-fleet.js';

const fixture = join(process.cwd(), 'test/fixtures/store/eb7662b');

/** Answered otherwise on purpose: jobs of the system itself are nobody's active or last one any more. */
const ANSWERED_ANEW: ReadonlySet<string> = new Set(['GET /info/job/active', 'GET /info/job/last']);

/** Nodes out of service were listed by name; now the worst come first, and the worst reason of each. */
function byName(answer: unknown): unknown {
  const { body } = answer as { body?: Partial<Pick<StatusView, 'nodes'>> };
  if (!Array.isArray(body?.nodes?.out)) return answer;
  const out = body.nodes.out.map((o) => ({ ...o, reasons: [...o.reasons].sort() }));
  out.sort((x, y) => (x.node < y.node ? -1 : 1));
  return { ...(answer as object), body: { ...body, nodes: { ...body.nodes, out } } };
}

/** What stands against a node by a rule that came later: a reason, or its sentence. */
const isAddedReason = (x: unknown): boolean =>
  typeof x === 'string' ? x.startsWith('SHUTS_DOWN') : (x as { code?: unknown } | null)?.code === 'SHUTS_DOWN';

const withoutAdded = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (_key, value: unknown) =>
      Array.isArray(value) ? value.filter((x) => !isAddedReason(x)) : value,
    ),
  );

describe('the store that commit eb7662b has written', () => {
  let text: string;
  let lines: StoredLine[];
  let recorded: RecordedAnswers;
  let fleet: StoredFleet;
  let answers: Record<string, unknown>;

  beforeAll(async () => {
    text = await readFile(join(fixture, 'store.ndjson'), 'utf8');
    lines = readStoredLines(text);
    recorded = JSON.parse(await readFile(join(fixture, 'answers.json'), 'utf8')) as RecordedAnswers;
    fleet = await StoredFleet.start(lines, recorded.at, recorded.beacon);
    answers = await fleet.answers(Object.keys(recorded.answers));
  });
  afterAll(() => fleet?.stop());

  it('has an incident in each phase', () => {
    const incidents = Object.entries(lastValues(lines)).filter(([key]) => key.startsWith('incidents '));
    const phases = new Set(incidents.map(([, value]) => (value as IncidentRecord).phase));
    expect([...phases].sort()).toEqual([...IncidentPhases].sort());
  });

  it('has not changed since its answers were recorded', () => {
    expect(createHash('sha256').update(text).digest('hex')).toBe(recorded.sha256);
  });

  it('is answered from as it was then; what is new is added', () => {
    for (const question of Object.keys(recorded.answers).filter((q) => !ANSWERED_ANEW.has(q)))
      expect({ question, answer: byName(withoutAdded(answers[question])) }).toMatchObject({
        question,
        answer: byName(recorded.answers[question]),
      });
  });

  it('answers a request again that it has answered then', async () => {
    expect(await fleet.sendAgain(recorded.kept)).toEqual(recorded.kept.answer);
  });

  it('has secrets that open with their key', () => {
    const secrets = Object.entries(lastValues(lines)).filter(([key]) => key.startsWith('secrets '));
    const key = Buffer.from(FIXTURE_SECRETS_KEY, 'hex');
    const opened = secrets.map(([name, sealed]) => [name, openSecret(key, sealed as SealedSecret)]);
    expect(opened.length).toBeGreaterThan(40);
    for (const [name, secret] of opened)
      expect([name, secret]).toEqual([name, expect.stringMatching(/^(bmc|new)-|^[0-9a-f]{64}$/)]);
  });

  it('is as it was when all has been answered', async () => {
    const living = /^(leases|workers) /;
    const written = Object.entries(lastValues(lines)).filter(([key]) => !living.test(key));
    expect(await fleet.stored()).toEqual(Object.fromEntries(written));
  });
});

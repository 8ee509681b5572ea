import { DetectionProfiles, silenceTimeout, type DetectionSettings } from '#contracts';
import { tally } from '../verdicts/quorum.js';
import { judge, unexamined } from '../verdicts/verdict.js';
import { factsOf, many, type Observation } from './target-facts.js';

const LARGEST = 6;

function verdictOn(said: readonly Observation[], witness: boolean): string {
  const f = factsOf(said, { witness });
  const t = tally(f);
  const { verdict } = judge(unexamined, f, t, 0);
  return verdict === 'DOWN' && t.hears > 0 ? 'DOWN, blocked' : verdict;
}

/** A dead node, by how many are dead with it and how many of the others the monitor hears; those all report it down. */
function ofTheDead(): string[][] {
  const rows: string[][] = [];
  for (let members = 2; members <= LARGEST; members++)
    for (let dead = 1; dead < members; dead++)
      for (const witness of members === 2 ? [false, true] : [false]) {
        const cells = Array.from({ length: LARGEST }, (_, reporting) => {
          const living = members - dead;
          if (reporting > living) return '';
          return verdictOn([...many(reporting, 'accuses'), ...many(members - 1 - reporting, 'absent')], witness);
        });
        rows.push([`${members}${witness ? ', witness' : ''}`, String(dead), ...cells]);
      }
  const head = ['M', 'dead', ...Array.from({ length: LARGEST }, (_, i) => `${i} report`)];
  return [head, ...rows];
}

/** A node that some still hear while everybody reports. */
function ofTheHalfHeard(): string[][] {
  const rows: string[][] = [];
  for (let members = 3; members <= LARGEST; members++)
    rows.push([
      String(members),
      ...Array.from({ length: LARGEST }, (_, hear) =>
        hear > members - 1 ? '' : verdictOn([...many(members - 1 - hear, 'accuses'), ...many(hear, 'hears')], false),
      ),
    ]);
  const head = ['M', ...Array.from({ length: LARGEST }, (_, i) => (i === 1 ? '1 hears it' : `${i} hear it`))];
  return [head, ...rows];
}

function ofTheProfiles(): string[][] {
  const profiles = Object.values(DetectionProfiles);
  const row = (what: string, of: (n: DetectionSettings) => number): string[] => [
    what,
    ...profiles.map((n) => String(of(n))),
  ];
  return [
    ['', ...profiles.map((n) => `\`${n.profile}\``)],
    row('`interval`, ms', (n) => n.interval),
    row('`suspectMisses`', (n) => n.suspectMisses),
    row('`misses`', (n) => n.misses),
    row('silence timeout = `interval` × `misses`, ms', silenceTimeout),
    row('`reportPeriod`, ms', (n) => n.reportPeriod),
    row('`freshness`, ms', (n) => n.freshness),
    row('`loopGap`, ms', (n) => n.loopGap),
  ];
}

/** As prettier writes it. */
function markdown(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] as readonly string[]).map((_, i) => Math.max(3, ...rows.map((r) => (r[i] as string).length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((c, i) => c.padEnd(widths[i] as number)).join(' | ')} |`;
  const [head, ...rest] = rows as [readonly string[], ...string[][]];
  return [line(head), line(widths.map((w) => '-'.repeat(w))), ...rest.map(line)].join('\n');
}

const between = (name: string): RegExp => new RegExp(`(<!-- ${name}: [^>]* -->\n)[^]*?(\n<!-- end -->)`);

/** The document with its tables as the code gives them now. @throws RangeError where it has no place for one */
export function withVerdictTables(document: string): string {
  let text = document;
  for (const [name, rows] of [
    ['verdicts on the dead', ofTheDead()],
    ['verdicts on the half heard', ofTheHalfHeard()],
    ['profiles', ofTheProfiles()],
  ] as const) {
    if (!between(name).test(text)) throw new RangeError(`no place for the table "${name}"`);
    text = text.replace(
      between(name),
      (_all, before: string, after: string) => `${before}\n${markdown(rows)}\n${after}`,
    );
  }
  return text;
}

import { phaseText, type IncidentReport, type PowerCommand, type ReportMoment } from '#contracts';

/** A report as a page of Markdown, in UTC: the same wherever it is read. */
export function incidentMarkdown(r: IncidentReport): string {
  const since = (at: number): string =>
    `${at < r.openedAt ? '−' : '+'}${(Math.abs(at - r.openedAt) / 1000).toFixed(2)} s`;
  const moments = (list: ReportMoment[], none: string): string =>
    table(
      ['time', 'since', 'what'],
      list.map((m) => [iso(m.at), since(m.at), m.what]),
      none,
    );
  return [
    `# Incident ${r.incident}: ${r.node}`,
    `Opened ${iso(r.openedAt)} (${r.cause}); ${phaseText(r)}, last changed ${iso(r.updatedAt)}. Times are UTC; "since" counts from its opening.`,
    section('What happened', bullets(r.summary, 'Nothing is known.')),
    section('What is open', bullets(r.open, 'Nothing.')),
    section('Evidence', bullets(r.evidence, 'None is kept.')),
    section('Decisions', moments(r.decisions, 'None.')),
    section(
      'Gates',
      table(
        ['gate', '', 'why'],
        r.gates.map((g) => [g.gate, g.pass ? 'pass' : '**stop**', g.detail]),
        'None was asked.',
      ),
    ),
    section(
      'Commands',
      table(
        ['n', 'time', 'since', 'command', 'by', 'outcome'],
        r.commands.map((c) => [
          String(c.n),
          iso(c.at),
          since(c.at),
          `${c.verb} ${c.device} (level ${c.level + 1})`,
          `${c.fencer} (token ${c.epoch})`,
          outcome(c),
        ]),
        'No power device was written to or read.',
      ),
      proof(r, since),
    ),
    section(
      'What moved',
      table(
        ['workload', 'from', 'to', 'state', 'started', 'why'],
        r.moved.map((m) => [
          m.workload,
          m.from,
          m.to ?? '-',
          m.state,
          m.startedAt === undefined ? '-' : since(m.startedAt),
          m.detail ?? '',
        ]),
        'Nothing.',
      ),
    ),
    section('What people did', moments(r.people, 'Nothing.')),
    section(
      'Jobs',
      table(
        ['job', 'kind', 'nodes', 'by', 'created', 'status', 'error'],
        r.jobs.map((j) => [j.id, j.kind, j.nodes.join(' '), j.by, since(j.createdAt), j.status, j.error]),
        'None.',
      ),
    ),
    section('Timeline', moments(r.timeline, 'Nothing is kept.')),
    ...(r.gaps.length === 0 ? [] : [section('What this report cannot tell', bullets(r.gaps, ''))]),
  ]
    .join('\n\n')
    .concat('\n');
}

const iso = (at: number): string => new Date(at).toISOString();

const section = (title: string, ...parts: string[]): string =>
  [`## ${title}`, ...parts.filter((part) => part !== '')].join('\n\n');

const bullets = (lines: string[], none: string): string =>
  lines.length === 0 ? none : lines.map((line) => `- ${plain(line)}`).join('\n');

function table(head: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return none;
  const line = (cells: string[]): string => `| ${cells.map(plain).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** What others said must neither end a line nor a cell. */
const plain = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ').replaceAll('|', String.raw`\|`);

function outcome(c: PowerCommand): string {
  const r = c.result;
  if (r === undefined) return 'no result: it may have been carried out';
  const said = r.power ?? (r.ok ? 'ok' : 'failed');
  const took = c.tookMs === undefined ? '' : ` in ${(c.tookMs / 1000).toFixed(2)} s`;
  const why = [r.code, r.detail].filter((part) => part !== undefined && part !== '').join(': ');
  return `${said}${took}${why === '' ? '' : ` (${why})`}`;
}

function proof(r: IncidentReport, since: (at: number) => string): string {
  if (r.proof === undefined) return 'There is no proof that it was off.';
  const by = r.proof.by === undefined ? '' : ` by ${r.proof.by}`;
  const why = r.proof.reason === undefined ? '' : `: ${r.proof.reason}`;
  return plain(`Proof of off: ${r.proof.kind}${by}, ${since(r.proof.at)}${why}.`);
}

import type { JobRecord, NodeResult, PartDiff, ServiceDiff } from '#contracts';
import { oneLine } from '../output/one-line.js';
import type { Colour, Terminal } from '../output/terminal.js';

/** What each node's check says differs, where it was asked. */
export function showDiffs(terminal: Terminal, job: JobRecord): void {
  for (const [node, result] of Object.entries(job.results)) {
    const { diff } = result;
    if (diff === undefined) continue;
    const page = new Page(terminal, node);
    for (const service of diff.services) showService(page, service, result);
    if (hasUnknownPart(result)) page.about([], OTHER_PART);
    if (diff.cut !== undefined) page.about([], `${diff.cut} lines are left out: look at the node itself`);
  }
}

const OTHER_PART =
  'the effective configuration is another, and no part of it that is known differs: the playbooks count more in it';

/** The checksum is another, all is well, and there is nothing to show for it. */
function hasUnknownPart({ verdict, diff, check }: NodeResult): boolean {
  const isSame = diff?.services.every((s) => s.parts.length === 0 && s.unknown === undefined) === true;
  const isWell = check?.findings.every((f) => f.result === 'ok') === true;
  return isSame && isWell && verdict?.outcome === 'drift';
}

function showService(page: Page, diff: ServiceDiff, { check }: NodeResult): void {
  const finding = check?.findings.find((f) => f.service === diff.service);
  const found = [finding?.result ?? 'not looked at', finding?.why ?? ''].filter((text) => text !== '').join(': ');
  const isSame = diff.parts.length === 0 && diff.unknown === undefined;
  page.about([diff.service], isSame ? `${found}; the same as was set up last` : found);
  if (diff.unknown !== undefined) page.about([diff.service], diff.unknown);
  for (const part of diff.parts) {
    page.part([diff.service, nameOf(part)], part.kind === 'standing' ? STANDING : SET_UP);
    if (part.note !== undefined) page.line([diff.service, nameOf(part)], part.note, 'dim');
    for (const line of part.lines) page.line([diff.service, nameOf(part)], line, colourOf(line));
    if (part.cut !== undefined) page.line([diff.service, nameOf(part)], `${part.cut} more lines are left out`, 'dim');
  }
}

const SET_UP = '- as it was set up last, + as it would be set up';
const STANDING = '- as it stands on the node, + as it would be set up';

const nameOf = ({ kind, name }: PartDiff): string =>
  kind === 'setting' ? name : kind === 'standing' ? `${name} on the node` : `${kind} ${name}`;

const colourOf = (line: string): Colour | undefined =>
  line.startsWith('@@') ? 'cyan' : line.startsWith('-') ? 'red' : line.startsWith('+') ? 'green' : undefined;

/** For a person: names once, what is about them below. In a pipe: each line says all that it is about. */
class Page {
  constructor(
    private readonly terminal: Terminal,
    private readonly node: string,
  ) {}

  about(names: readonly string[], text: string): void {
    this.terminal.line(oneLine(`${this.terminal.paint('bold', [this.node, ...names].join(': '))}: ${text}`));
  }

  part(names: readonly string[], legend: string): void {
    if (this.terminal.interactive)
      this.terminal.line(oneLine(`  ${names.at(-1) ?? ''} ${this.terminal.paint('dim', `(${legend})`)}`));
  }

  line(names: readonly string[], text: string, colour?: Colour): void {
    if (!this.terminal.interactive) return this.about(names, text);
    const clean = oneLine(text);
    this.terminal.line(`    ${colour === undefined ? clean : this.terminal.paint(colour, clean)}`);
  }
}

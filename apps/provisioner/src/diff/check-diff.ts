import { basename } from 'node:path';
import { isSecretName, MASK, masked, type CheckDiff, type Finding, type PartDiff, type ServiceDiff } from '#contracts';
import { secretsOf } from './masking.js';
import { hunksOf } from './line-diff.js';
import type { NodeParts, PartText, ServiceParts, StandingFile } from './node-parts.js';
import { hiddenOf, printable, shownLines, type Hidden } from './shown-lines.js';

export interface CheckDiffInput {
  findings: readonly Finding[];
  parts: NodeParts;
  /** The checksum of the effective configuration is the one on record. */
  isAsRecorded: boolean;
  /** Known to be secret there, beside what the parts say of themselves. */
  secrets: readonly string[];
  /** Of the job's log: what it hides of other nodes is hidden here too. */
  mask: (text: string) => string;
}

/** What differs on one node, whole: with its secrets masked, not yet bounded. */
export function checkDiff({ findings, parts, isAsRecorded, secrets, mask }: CheckDiffInput): CheckDiff {
  const known = hiddenOf([...secrets, ...secretsIn(parts)]);
  const hidden: Hidden = { ...known, mask: (text) => mask(known.mask(text)) };
  const names = new Set([...findings.map((f) => f.service), ...parts.now.keys(), ...parts.last.keys()]);
  const services = [...names].map((service): ServiceDiff => {
    const now = parts.now.get(service);
    const last = parts.last.get(service) ?? (isAsRecorded ? now : undefined);
    const standing = parts.standing
      .filter((f) => f.service === service)
      .flatMap((f) => standingDiff(f, last, hidden) ?? []);
    if (now === undefined && last !== undefined && !findings.some((f) => f.service === service))
      return { service, parts: [gone] };
    if (now === undefined || last === undefined)
      return { service, unknown: whyUnknown(service, now, { findings, parts }), parts: standing };
    return { service, parts: [...changes(last, now, hidden), ...standing] };
  });
  return { services };
}

/** It was set up here, and would not be now. */
const gone: PartDiff = { kind: 'setting', name: 'service', lines: ['-set up', '+no part of this node'] };

function whyUnknown(
  service: string,
  now: ServiceParts | undefined,
  { findings, parts }: Pick<CheckDiffInput, 'findings' | 'parts'>,
): string {
  if (now === undefined) {
    const isLookedAt = findings.some((f) => f.service === service && f.result !== 'unknown');
    const why = isLookedAt ? 'the playbooks did not tell it; are they of an earlier Muster?' : 'its check failed';
    return `what would be set up is not known: ${why}`;
  }
  const why = parts.unreadable.get(service) ?? parts.unreadable.get('*') ?? 'nothing of it is kept on the node';
  return `what was set up last is not known: ${why}`;
}

/** Of every service, old and new: what one of them calls secret is secret in the others. */
const secretsIn = (parts: NodeParts): string[] =>
  [...parts.now.values(), ...parts.last.values()].flatMap((p) => [
    ...secretsOf(p.variables),
    ...secretsOf(p.secrets, true),
  ]);

function changes(last: ServiceParts, now: ServiceParts, hidden: Hidden): PartDiff[] {
  const settings = namesOf(last.settings, now.settings)
    .filter((name) => last.settings[name] !== now.settings[name])
    .map((name): PartDiff => {
      const line = (tag: string, value?: string): string[] =>
        value === undefined ? [] : [`${tag}${printable(value)}`];
      return { kind: 'setting', name, lines: [...line('-', last.settings[name]), ...line('+', now.settings[name])] };
    });
  const variables = namesOf(last.variables, now.variables).flatMap(
    (name) => variableDiff(name, last.variables, now.variables, hidden) ?? [],
  );
  const texts = (['templates', 'files'] as const).flatMap((kind) =>
    namesOf(last[kind], now[kind]).flatMap((name): PartDiff[] => {
      const lines = textDiff(name, last[kind][name], now[kind][name], hidden);
      return lines === undefined ? [] : [{ kind: kind === 'files' ? 'file' : 'template', name, ...lines }];
    }),
  );
  return [...settings, ...variables, ...texts];
}

const namesOf = (a: object, b: object): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();

const IN_HIDDEN = 'differs in what is hidden';

function variableDiff(
  name: string,
  last: Record<string, unknown>,
  now: Record<string, unknown>,
  hidden: Hidden,
): PartDiff | undefined {
  // Members of a mapping are in order of their names, as the run wrote them.
  if (JSON.stringify(last[name]) === JSON.stringify(now[name])) return undefined;
  const shown = (from: Record<string, unknown>): string[] => {
    if (!(name in from)) return [];
    // Its name decides, as everywhere; then what its text shows, and what is known to be secret.
    const value = masked({ [name]: from[name] })[name];
    const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
    return shownLines(text.split('\n'), hidden).map(printable);
  };
  const [a, b] = [shown(last), shown(now)];
  const lines = hunksOf(a, b).flatMap(({ head, lines: of }) => [
    ...(a.length > 1 || b.length > 1 ? [head] : []),
    ...of.map((l) => `${l.tag}${l.tag === '+' ? b[l.b] : a[l.a]}`),
  ]);
  if (lines.length > 0) return { kind: 'variable', name, lines };
  return { kind: 'variable', name, lines: a.length === 1 ? [`-${a[0]}`, `+${b[0]}`] : [], note: IN_HIDDEN };
}

/** A file on the node as it stands, beside what would be set up there. */
function standingDiff(f: StandingFile, last: ServiceParts | undefined, hidden: Hidden): PartDiff | undefined {
  const rendered = Object.values(last?.templates ?? {}).flatMap((t) => linesOf(t.text ?? ''));
  const lines = textDiff(f.path, f.stands, f.wanted, hidden, new Set(rendered));
  if (lines === undefined) return undefined;
  return { kind: 'standing', name: f.path, ...lines, ...(f.stands === undefined && { note: 'missing' }) };
}

/**
 * @param rendered where `a` was written by anybody: the lines that Muster rendered for this service last. In a file that
 * holds a secret, a line of `a` that is none of these nor of `b` is hidden: it may be another secret
 */
function textDiff(
  name: string,
  a: PartText | undefined,
  b: PartText | undefined,
  hidden: Hidden,
  rendered?: ReadonlySet<string>,
): Pick<PartDiff, 'lines' | 'note'> | undefined {
  if (a?.sha256 === b?.sha256) return undefined;
  const both = (shown: (text: PartText) => string): string[] => [
    ...(a === undefined ? [] : [`-${shown(a)}`]),
    ...(b === undefined ? [] : [`+${shown(b)}`]),
  ];
  // By its name: neither its lines nor a hash that they could be guessed by.
  if (isSecretName(basename(name))) return { lines: both(() => MASK), note: 'hidden for its name' };
  if ((a !== undefined && a.text === undefined) || (b !== undefined && b.text === undefined))
    return {
      lines: both((t) => `sha256 ${t.sha256}, ${t.size} bytes`),
      note: 'too large to be shown line by line, or no text',
    };
  const [before, after] = [linesOf(a?.text ?? ''), linesOf(b?.text ?? '')];
  const [shownBefore, shownAfter] = [shownLines(before, hidden), shownLines(after, hidden)];
  const holdsSecret =
    shownBefore.some((line, i) => line !== before[i]) || shownAfter.some((line, i) => line !== after[i]);
  const own = new Set([...after, UNENDED]);
  const removed = (at: number): string | undefined => {
    const line = before[at] ?? '';
    const isForeign = rendered !== undefined && line.trim() !== '' && !rendered.has(line) && !own.has(line);
    return holdsSecret && isForeign ? MASK : shownBefore[at];
  };
  // Hidden where either side hides it: what stands before it may show that it is secret.
  const common = (l: { a: number; b: number }): string | undefined =>
    shownBefore[l.a] === before[l.a] ? shownAfter[l.b] : shownBefore[l.a];
  const hunks = hunksOf(before, after).map(({ head, lines }) => ({
    head,
    lines: lines.map((l) => ({
      tag: l.tag,
      text: printable((l.tag === '+' ? shownAfter[l.b] : l.tag === '-' ? removed(l.a) : common(l)) ?? ''),
    })),
  }));
  const side = (of: { tag: string; text: string }[], tag: string): string =>
    JSON.stringify(of.filter((l) => l.tag === tag).map((l) => l.text));
  const looksTheSame = hunks.every((h) => side(h.lines, '-') === side(h.lines, '+'));
  return {
    lines: hunks.flatMap((h) => [h.head, ...h.lines.map((l) => `${l.tag}${l.text}`)]),
    ...(looksTheSame && { note: IN_HIDDEN }),
  };
}

/** Stands behind a last line that does not end: it is another one than the same that does. */
const UNENDED = '\\ no newline at end';

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  return rest === '' ? lines : [...lines, rest, UNENDED];
}

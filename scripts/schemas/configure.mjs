import { readFileSync } from 'node:fs';
import ts from 'typescript';

const CONFIG = 'libs/service/src/config.ts';
const SETTINGS = 'libs/contracts/src/settings/settings.ts';

/**
 * docs/configure.md: every key of muster.yaml and every cluster setting, from their definitions.
 * @throws Error where one has no words of its own, or is a number without a unit: nobody could know what it is for
 */
export async function configurePage() {
  const { defaultSettings } = await import('../../dist/libs/contracts/src/settings/settings.js');
  const config = declarations(CONFIG);
  const settings = declarations(SETTINGS);
  const defaults = defaultSettings('muster');
  return `# What can be set

Written by \`npm run schemas\` from the definitions themselves; \`npm run lint\` compares. Two places:

- **\`muster.yaml\`** is what a process needs to start: one file (\`MUSTER_CONFIG\`), environment \`MUSTER_*\` on top. Paths in
  it are relative to it. A change holds from the process's next start on; what is no key is refused.
- **Settings** are the cluster's, in its store: \`muster settings get\`, \`muster settings set\`. A change holds at once, for
  all. \`initial\` in \`muster.yaml\` has those of a new installation.

## Keys of \`muster.yaml\`

${table(rowsOf(config, 'ServiceConfig', ''))}

## Settings

${table(rowsOf(settings, 'ClusterSettings', '', (key) => at(defaults, key)))}
`;
}

function declarations(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = new Map();
  source.forEachChild((node) => {
    if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) found.set(node.name.text, node);
  });
  return { source, found };
}

/** @param defaultOf by the whole key; absent: what the definition begins with */
function rowsOf({ source, found }, name, prefix, defaultOf) {
  return found.get(name).members.flatMap((member) => {
    if (!ts.isPropertyDeclaration(member) && !ts.isPropertySignature(member)) return [];
    // What code keeps beside the keys.
    if (member.modifiers?.some((m) => m.kind === ts.SyntaxKind.DeclareKeyword)) return [];
    const key = `${prefix}${member.name.text}`;
    const type = member.type?.getText(source).replaceAll(/\s+/g, ' ');
    const inner = type?.replace('[]', '');
    const doc = ts.getJSDocCommentsAndTags(member).find(ts.isJSDoc);
    if (doc !== undefined && wordsOf(doc) === '')
      throw new Error(`${name}.${member.name.text}: its comment says nothing`);
    if (found.has(inner) && inner !== 'Webhook')
      return [...(doc ? [row(key, '', doc)] : []), ...rowsOf({ source, found }, inner, `${key}.`, defaultOf)];
    if (doc === undefined) throw new Error(`${name}.${member.name.text} has no comment: what is it for?`);
    const begins = defaultOf?.(key) ?? literal(member.initializer?.getText(source));
    const isNumber = type === 'number' || /^\d[\d_]*$/.test(member.initializer?.getText(source) ?? '');
    if (isNumber !== (tagOf(doc, 'unit') !== ''))
      throw new Error(`${name}.${member.name.text}: @unit is for numbers, each of them`);
    return [
      row(key, begins, doc),
      ...(inner === 'Webhook' ? rowsOf({ source, found }, inner, `${key}[].`, () => undefined) : []),
    ];
  });
}

function row(key, begins, doc) {
  // As it is written for people, without the quotes of code; else as the code begins.
  const told = tagOf(doc, 'default').replace(/^'([^']*)'/, (_all, text) => (text === '' ? 'empty' : `\`${text}\``));
  const value = told || (begins === '' ? '' : `\`${begins}\``);
  return [`\`${key}\``, wordsOf(doc), value, tagOf(doc, 'unit')];
}

const wordsOf = (doc) => ts.getTextOfJSDocComment(doc.comment) ?? '';
const tagOf = (doc, name) => ts.getTextOfJSDocComment(doc.tags?.find((t) => t.tagName.text === name)?.comment) ?? '';

/** One word of code; what is computed is told by its comment. */
const literal = (text) =>
  text !== undefined && /^('[^']*'|\d[\d_]*|true|false|\{\})$/.test(text) ? text.replaceAll("'", '') : '';

function at(defaults, key) {
  const value = key.split('.').reduce((found, name) => found?.[name], defaults);
  return value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);
}

const cell = (text) => text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
const table = (rows) =>
  [
    '| key | what, and why | default | unit |',
    '| --- | --- | --- | --- |',
    ...rows.map((r) => `| ${r.map(cell).join(' | ')} |`),
  ].join('\n');

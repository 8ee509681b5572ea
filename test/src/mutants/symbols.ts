import ts from 'typescript';
import type { Source } from './source.js';

function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const isNamed =
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isAccessor(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isEnumMember(node);
  if (!isNamed || node.name === undefined) return undefined;
  return ts.isIdentifier(node.name) || ts.isStringLiteral(node.name) || ts.isPrivateIdentifier(node.name)
    ? node.name.text
    : undefined;
}

/** Dotted path → what is declared by it: overloads, or a getter and its setter, are several. */
export function symbolsOf(source: Source): Map<string, ts.Node[]> {
  const symbols = new Map<string, ts.Node[]>();
  const visit = (node: ts.Node, path: string): void => {
    const name = nameOf(node);
    const here = name === undefined ? path : path === '' ? name : `${path}.${name}`;
    if (name !== undefined) symbols.set(here, [...(symbols.get(here) ?? []), node]);
    ts.forEachChild(node, (child) => visit(child, here));
  };
  visit(source.tree, '');
  return symbols;
}

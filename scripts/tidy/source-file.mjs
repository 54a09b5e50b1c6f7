/*
 * What the rules know about a file: its place, its kind, its syntax tree. No rule lives here.
 */
import ts from "typescript";

/** Whether a path names source code of ours. */
export function isSource(path) {
  return /\.(ts|mts|mjs|js)$/.test(path);
}

/**
 * Describes one file. `room` is the package it belongs to, `inside` its path below that package's `src`, both
 * `undefined` elsewhere. `tree` is parsed on first use.
 */
export function describeFile(path, text) {
  const place = /^packages\/([^/]+)\/src\/(.+)$/.exec(path);
  let tree;
  return {
    path,
    text,
    room: place?.[1],
    inside: place?.[2],
    isCode: isSource(path),
    isTest: /\.(?:test|fixture)\.ts$/.test(path) || /^(test|bench)\//.test(path),
    isConfig: /\.config\.(ts|mts|mjs|js)$/.test(path),
    get tree() {
      tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return tree;
    },
  };
}

/** Line of a node, counted from 1. */
export function lineOf(file, node) {
  return file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1;
}

/** Every node below `node`, in source order. */
export function* nodesOf(node) {
  const children = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  for (const child of children) {
    yield child;
    yield* nodesOf(child);
  }
}

/** Every import and re-export with a literal target: `[{ node, target, typeOnly }]`, dynamic ones included. */
export function importsOf(file) {
  const found = [];
  for (const node of nodesOf(file.tree)) {
    if (ts.isImportDeclaration(node)) {
      found.push({ node, target: node.moduleSpecifier.text, typeOnly: isTypeOnlyImport(node.importClause) });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      found.push({ node, target: node.moduleSpecifier.text, typeOnly: node.isTypeOnly });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target && ts.isStringLiteralLike(target)) found.push({ node, target: target.text, typeOnly: false });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      found.push({ node, target: node.argument.literal.text, typeOnly: true });
    }
  }
  return found;
}

function isTypeOnlyImport(clause) {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  if (clause.name || !named || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

/*
 * What keeps core a pure function of its input: no clock, no randomness, no I/O, no locale. Tests are exempt.
 */
import ts from "typescript";
import { lineOf, nodesOf } from "./source-file.mjs";

const AMBIENT = new Set([
  ...["process", "console", "globalThis", "window", "Buffer", "require"],
  ...["performance", "crypto", "fetch", "XMLHttpRequest", "WebSocket"],
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask"],
]);

/** Rules `pure-core` and `no-locale`. */
export function purity(file) {
  if (file.room !== "core" || file.isTest) return [];
  const nodes = [...nodesOf(file.tree)];
  const declared = namesDeclaredIn(nodes);
  return nodes.flatMap((node) => {
    const offence = judge(node, declared);
    return offence ? [{ ...offence, line: lineOf(file, node) }] : [];
  });
}

function judge(node, declared) {
  const impure = (what) => ({ rule: "pure-core", message: `core may not use ${what}` });
  const local = (what) => ({ rule: "no-locale", message: `${what} depends on the locale` });
  if (ts.isPropertyAccessExpression(node)) {
    const { name } = node;
    const owner = ts.isIdentifier(node.expression) ? node.expression.text : "";
    if (owner === "Math" && name.text === "random") return impure("Math.random");
    if (owner === "Date" && name.text === "now") return impure("Date.now");
    if (name.text === "localeCompare" || /^toLocale[A-Z]/.test(name.text)) return local(name.text);
  }
  if (ts.isNewExpression(node) && isNamed(node.expression, "Date") && !node.arguments?.length) {
    return impure("new Date() without a time");
  }
  if (ts.isCallExpression(node) && isNamed(node.expression, "Date")) return impure("Date()");
  if (ts.isIdentifier(node) && isValueUse(node) && !declared.has(node.text)) {
    if (AMBIENT.has(node.text)) return impure(node.text);
    if (node.text === "Intl") return local("Intl");
  }
  return undefined;
}

function isNamed(node, name) {
  return ts.isIdentifier(node) && node.text === name;
}

/** Whether an identifier refers to a value, rather than naming a property, a type or an import. */
function isValueUse(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  return !(
    ts.isTypeNode(parent) ||
    ts.isQualifiedName(parent) ||
    ts.isTypeElement(parent) ||
    ts.isClassElement(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isExportSpecifier(parent) ||
    ts.isLabeledStatement(parent) ||
    (ts.isBindingElement(parent) && parent.propertyName === node)
  );
}

function namesDeclaredIn(nodes) {
  const names = new Set();
  for (const node of nodes) {
    const isDeclaration =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isImportSpecifier(node);
    if (isDeclaration && node.name && ts.isIdentifier(node.name)) names.add(node.name.text);
  }
  return names;
}

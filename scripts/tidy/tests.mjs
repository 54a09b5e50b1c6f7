/*
 * What a test may not do: run alone, be switched off for good, or claim a law without a control.
 */
import ts from "typescript";
import { lineOf, nodesOf } from "./source-file.mjs";

const BLOCKS = new Set(["describe", "suite", "it", "test"]);

/** Rules `only-or-skip` and `control`. */
export function tests(file) {
  if (!file.isTest || !file.isCode) return [];
  const findings = [];
  for (const node of nodesOf(file.tree)) {
    if (!ts.isPropertyAccessExpression(node) || !BLOCKS.has(rootName(node))) continue;
    const name = node.name.text;
    const called = ts.isCallExpression(node.parent) && node.parent.expression === node;
    if (name === "only" || (called && (name === "skip" || name === "todo"))) {
      const message = `.${name} hides tests; use skipIf or runIf with a condition, or finish the test`;
      findings.push({ rule: "only-or-skip", line: lineOf(file, node), message });
    }
  }
  if (/\.laws(\.long)?\.test\.ts$/.test(file.path) && !/control/i.test(file.text)) {
    const message = "no control: show that the law fails on a planted bug, in a test named `control: …`";
    findings.push({ rule: "control", level: "hint", line: 1, message });
  }
  return findings;
}

function rootName(node) {
  let at = node;
  while (ts.isPropertyAccessExpression(at) || ts.isCallExpression(at)) at = at.expression;
  return ts.isIdentifier(at) ? at.text : "";
}

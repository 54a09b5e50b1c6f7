/*
 * How files are named, how long they are, how they begin and what they export.
 */
import { basename } from "node:path";
import ts from "typescript";
import { lineOf, nodesOf } from "./source-file.mjs";

const MAX_FILE_LINES = 450;
const MAX_FUNCTION_LINES = 80;
/** Names that say nothing about what is inside. */
const EMPTY_NAMES = new Set(["util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"]);

/** Rules `file-name`, `file-size`, `function-size`, `header`, `exports` and `default-export`. */
export function shape(file) {
  if (!file.isCode) return [];
  return [...judgeName(file), ...judgeSize(file), ...judgeHeader(file), ...judgeExports(file)];
}

function judgeName({ path }) {
  const segments = path.split("/");
  segments[segments.length - 1] = basename(path).split(".")[0];
  const kebab = /^\.?[a-z0-9]+(-[a-z0-9]+)*$/;
  return segments.flatMap((segment) => {
    if (!kebab.test(segment)) return [{ rule: "file-name", line: 1, message: `${segment} is not kebab-case` }];
    if (!EMPTY_NAMES.has(segment.split("-").at(-1))) return [];
    return [{ rule: "file-name", line: 1, message: `${segment} says nothing; name it for what it holds` }];
  });
}

function judgeSize(file) {
  if (file.isTest || isData(file.path)) return [];
  const findings = [];
  const lines = file.text.trimEnd().split("\n").length;
  if (lines > MAX_FILE_LINES) {
    findings.push({
      rule: "file-size",
      line: 1,
      message: `${lines} lines, at most ${MAX_FILE_LINES}; split it by subject`,
    });
  }
  for (const node of nodesOf(file.tree)) {
    if (!ts.isFunctionLike(node) || !node.body) continue;
    const first = lineOf(file, node);
    const length = file.tree.getLineAndCharacterOfPosition(node.end).line + 2 - first;
    if (length <= MAX_FUNCTION_LINES) continue;
    const message = `a function of ${length} lines; ${MAX_FUNCTION_LINES} are plenty`;
    findings.push({ rule: "function-size", level: "hint", line: first, message });
  }
  return findings;
}

/** Tables and texts are as long as their content. */
function isData(path) {
  return /(^|\/)(data|catalog|prompt)\//.test(path) || /(^|[-./])(data|catalog|table)\.(ts|mjs)$/.test(path);
}

function judgeHeader(file) {
  if (file.isTest || file.isConfig || /^(#![^\n]*\n)?\s*\/[/*]/.test(file.text)) return [];
  return [{ rule: "header", line: 1, message: "begin with a comment: what the file is for, what it must not do" }];
}

function judgeExports(file) {
  const isIndex = file.inside === "index.ts";
  return file.tree.statements.flatMap((node) => {
    const line = lineOf(file, node);
    if (isIndex && ts.isExportDeclaration(node) && !(node.exportClause && ts.isNamedExports(node.exportClause))) {
      return [{ rule: "exports", line, message: "list by name what the package exports" }];
    }
    // What loads an extension asks for its default export.
    const isExtension = file.path.startsWith("examples/extensions/");
    if (!file.isConfig && !isExtension && isDefaultExport(node)) {
      return [{ rule: "default-export", line, message: "export it by name" }];
    }
    return [];
  });
}

function isDefaultExport(node) {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause)) {
    return node.exportClause.elements.some((element) => element.name.text === "default");
  }
  return (ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(isDefaultKeyword)) ?? false;
}

function isDefaultKeyword(modifier) {
  return modifier.kind === ts.SyntaxKind.DefaultKeyword;
}

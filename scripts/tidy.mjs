/*
 * The house style as a program: every rule that can be checked without running the code. `node scripts/tidy.mjs` reads
 * the checkout, prints one line per finding and exits 1 on an error; hints do not fail. It must not change a file, and
 * leaves to the formatter and the compiler what they already check.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { arrows } from "./tidy/arrows.mjs";
import { docs } from "./tidy/docs.mjs";
import { purity } from "./tidy/purity.mjs";
import { shape } from "./tidy/shape.mjs";
import { describeFile, isSource } from "./tidy/source-file.mjs";
import { tests } from "./tidy/tests.mjs";
import { text } from "./tidy/text.mjs";

const RULE_SETS = [arrows, purity, shape, text, tests, docs];
const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "coverage", "fixtures", ".git", ".stet-setup"]);

/**
 * Checks `files` (`[{ path, text }]`, paths from the repository root, with `/`). `exists(path)` answers for the targets
 * of links. Returns `[{ rule, level: "error" | "hint", path, line, message }]` in file order.
 */
export function inspect(files, exists) {
  const project = { exists, manifests: readManifests(files) };
  return files
    .filter(({ path }) => isSource(path) || path.endsWith(".md"))
    .flatMap(({ path, text: content }) => {
      const file = describeFile(path, content);
      return RULE_SETS.flatMap((rules) => rules(file, project)).map((finding) => ({
        level: "error",
        path,
        ...finding,
      }));
    });
}

/** Reads the files of a checkout that {@link inspect} looks at. */
export function collect(root) {
  const files = [];
  const walk = (folder) => {
    for (const item of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, item.name);
      if (item.isDirectory() && !SKIPPED_FOLDERS.has(item.name)) walk(path);
      else if (item.isFile() && (isSource(item.name) || /\.md$|^package\.json$/.test(item.name))) {
        files.push({ path: relative(root, path).split(sep).join("/"), text: readFileSync(path, "utf8") });
      }
    }
  };
  walk(root);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function readManifests(files) {
  const manifests = new Map();
  for (const { path, text: content } of files) {
    const room = /^packages\/([^/]+)\/package\.json$/.exec(path)?.[1];
    if (room) manifests.set(room, Object.keys(JSON.parse(content).dependencies ?? {}));
  }
  return manifests;
}

function main() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const findings = inspect(collect(root), (path) => existsSync(join(root, path)));
  for (const { level, path, line, rule, message } of findings) {
    process.stdout.write(`${path}:${line} ${level} ${rule}: ${message}\n`);
  }
  process.exitCode = findings.some((finding) => finding.level === "error") ? 1 : 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main();

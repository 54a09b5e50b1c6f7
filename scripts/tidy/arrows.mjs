/*
 * Who may import whom. Tests are exempt: they may look anywhere.
 */
import { posix } from "node:path";
import { importsOf, lineOf } from "./source-file.mjs";

/** For each package, the packages it may import. */
const ARROWS = {
  core: [],
  storage: ["core"],
  interop: ["core"],
  writers: ["core"],
  tools: ["core"],
  providers: ["core"],
  engine: ["core"],
  testkit: ["core", "engine"],
  cli: ["core", "engine", "storage", "interop", "writers", "tools", "providers", "testkit"],
};

/** Rules `arrow` and `inner-arrow`. */
export function arrows(file, { manifests }) {
  if (!file.room || file.isTest || !file.isCode) return [];
  return importsOf(file).flatMap((found) => {
    const offence = found.target.startsWith(".")
      ? judgeRelative(file, found)
      : judgeBare(file, found.target, manifests);
    return offence ? [{ ...offence, line: lineOf(file, found.node) }] : [];
  });
}

function judgeBare(file, target, manifests) {
  const own = /^@stet\/([^/]+)(\/.+)?$/.exec(target);
  if (own) {
    const [, room, deep] = own;
    if (deep) return { rule: "arrow", message: `${target} reaches past the front door; import @stet/${room}` };
    if ((ARROWS[file.room] ?? []).includes(room)) return undefined;
    return { rule: "arrow", message: `${file.room} may not import ${room}` };
  }
  if (file.room === "core") return { rule: "arrow", message: `core imports nothing but its own files, not ${target}` };
  if (target.startsWith("node:")) return undefined;
  const name = target.split("/", target.startsWith("@") ? 2 : 1).join("/");
  if (manifests.get(file.room)?.includes(name)) return undefined;
  return { rule: "arrow", message: `${name} is not a dependency of packages/${file.room}/package.json` };
}

function judgeRelative(file, { target, typeOnly }) {
  const to = posix.normalize(posix.join(posix.dirname(file.inside), target));
  if (to.startsWith("..")) return { rule: "arrow", message: `${target} leaves the package; import it by its name` };
  if (file.room !== "core") return undefined;
  if (file.inside.startsWith("rules/") && to.startsWith("context/")) {
    return { rule: "inner-arrow", message: "rules/ judges what context/ builds, so it may not import it" };
  }
  if (file.inside.startsWith("context/") && to.startsWith("rules/") && !(to === "rules/violation.ts" && typeOnly)) {
    return { rule: "inner-arrow", message: "context/ may import from rules/ only the types of violation.ts" };
  }
  return undefined;
}

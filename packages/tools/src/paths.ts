/** Paths as models write them: relative to the project, with `~`, quoted, with `@` before them. */
import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";

/** Absolute path of `given` in the project at `cwd`. */
export function absolutePath(given: string, cwd: string): string {
  const bare = given
    .trim()
    .replace(/^@/, "")
    .replace(/^(["'])(.*)\1$/, "$2");
  if (bare === "~" || bare.startsWith("~/")) return resolve(homedir(), bare.slice(2));
  return resolve(cwd, bare);
}

/** A path for people: relative where it is inside the project. */
export function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside === "" ? "." : inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

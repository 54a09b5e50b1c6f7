/**
 * What the settings of a project may not decide unless the user trusts it: a project can come from anywhere, and its file
 * must not run code, send keys or words to an address, or allow what the user did not.
 */
import { realpathSync } from "node:fs";
import { resolve, sep } from "node:path";

const MODES: readonly string[] = ["read-only", "ask", "edit", "all"];
const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/]|$)/;

/** Whether `cwd` is one of the folders, or inside one; links are followed. */
export function isTrusted(cwd: string, folders: readonly string[]): boolean {
  const here = real(cwd);
  return folders
    .map(real)
    .some((folder) => here === folder || here.startsWith(folder.endsWith(sep) ? folder : folder + sep));
}

/** A project's settings without what needs trust, and the names of what was left out. `mode` is the user's own. */
export function withoutUntrusted(
  settings: Readonly<Record<string, unknown>>,
  mode: string,
): { settings: Record<string, unknown>; left: string[] } {
  const kept: Record<string, unknown> = {};
  const left: string[] = [];
  for (const [key, value] of Object.entries(settings)) {
    if (key === "extensions" || key === "trustedProjects") left.push(key);
    else if (key === "mode" && MODES.indexOf(String(value)) > MODES.indexOf(mode)) left.push(`${key} = ${value}`);
    else if (key === "compaction" && endpointIn(value)) {
      const { remoteEndpoint: _elsewhere, ...rest } = value as Record<string, unknown>;
      kept[key] = rest;
      left.push("compaction.remoteEndpoint");
    } else if (key === "compaction.remoteEndpoint") left.push(key);
    else if (key === "providers") {
      const [near, far] = byAddress(value);
      kept[key] = near;
      left.push(...far.map((name) => `${key}.${name}`));
    } else kept[key] = value;
  }
  return { settings: kept, left };
}

/** Whether the words of the session would go to another machine. */
function endpointIn(value: unknown): boolean {
  const url = (value as { remoteEndpoint?: unknown } | null)?.remoteEndpoint;
  return url !== undefined && !LOOPBACK.test(String(url));
}

/** Providers on this machine, and the names of those elsewhere. */
function byAddress(value: unknown): [near: Record<string, unknown>, far: string[]] {
  if (typeof value !== "object" || value === null) return [{}, []];
  const isNear = (setting: unknown) => LOOPBACK.test(String((setting as { baseUrl?: unknown } | null)?.baseUrl));
  const all = Object.entries(value);
  return [
    Object.fromEntries(all.filter(([, setting]) => isNear(setting))),
    all.flatMap(([name, setting]) => (isNear(setting) ? [] : [name])),
  ];
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

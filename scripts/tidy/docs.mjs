/*
 * Links in the documents that lead nowhere. Addresses on the web are not visited.
 */
import { posix } from "node:path";

/** Rule `link`. */
export function docs(file, { exists }) {
  if (!file.path.endsWith(".md")) return [];
  const findings = [];
  let fence;
  for (const [index, content] of file.text.split("\n").entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(content)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    if (fence !== undefined || mark) continue;
    for (const target of targetsIn(content)) {
      const path = posix.normalize(posix.join(posix.dirname(file.path), decodeURIComponent(target)));
      if (!exists(path)) findings.push({ rule: "link", line: index + 1, message: `${target} does not exist` });
    }
  }
  return findings;
}

/** Relative link targets of one line, without their `#section`; both `[text](target)` and `[name]: target`. */
function targetsIn(line) {
  const prose = line.replace(/`[^`]*`/g, "");
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].map((match) => match[1]);
  const named = /^\s*\[[^\]]+\]:\s*<?([^\s>]+)/.exec(prose)?.[1];
  return [...inline, ...(named ? [named] : [])]
    .filter((target) => !/^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target))
    .map((target) => target.split(/[?#]/)[0])
    .filter((target) => target !== "");
}

/*
 * What may not stand in any source as plain text. Tests are exempt from the rule on paths: sessions name folders.
 */

// A path on somebody's machine; the look-behind lets folders inside the project and web addresses pass.
const MACHINE_PATH = /(?<![\w.~@:*}-])\/(?:work|home|tmp|root|Users)\/(?=[\w.$-])/;
const LOOSE_END = /(?:\/\/|\/\*|^\s*\*|<!-{2}).*\b(?:TODO|FIXME|XXX)\b/;

/** Rules `machine-path` and `loose-end`. */
export function text(file) {
  return file.text.split("\n").flatMap((content, index) => {
    const findings = [];
    const path = MACHINE_PATH.exec(content)?.[0];
    if (path && file.isCode && !file.isTest) {
      findings.push({ rule: "machine-path", line: index + 1, message: `${path} is a folder of one machine` });
    }
    if (LOOSE_END.test(content)) {
      findings.push({ rule: "loose-end", line: index + 1, message: "finish it, or write it down in the plan" });
    }
    return findings;
  });
}

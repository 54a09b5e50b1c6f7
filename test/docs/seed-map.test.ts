/** docs/seed-map.md stays true: built rows have their target, planned rows do not have it yet. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const ROW = /^\| `(.+?)` \| \w+ \| (?:musepi|omk|both) \| (planned )?`(.+?)#(.+?)` \|$/;

/** What is wrong with the rows of `map`, one line each. */
function faultsOf(map: string): string[] {
  const rows = map.split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((line) => {
    const [, name, planned, file, symbol] = ROW.exec(line) ?? [];
    if (name === undefined || file === undefined || symbol === undefined) return [`not a row: ${line}`];
    const path = join(root, file);
    const isThere = existsSync(path) && readFileSync(path, "utf8").includes(symbol);
    if (planned && isThere) return [`${name}: built, still marked planned`];
    return planned || isThere ? [] : [`${name}: no ${symbol} in ${file}`];
  });
}

it("every built row has its target and no planned row has one", () => {
  const map = readFileSync(join(root, "docs", "seed-map.md"), "utf8");
  expect(faultsOf(map)).toEqual([]);
  expect(map.split("\n").filter((line) => line.startsWith("| `")).length).toBeGreaterThan(50);
});

it("control: a missing target, a built planned row and a broken row are faults", () => {
  expect(
    faultsOf(
      [
        "| `a` | function | omk | `packages/core/src/entry.ts#noSuchSymbolAnywhere` |",
        "| `b` | entry | omk | planned `packages/core/src/entry.ts#CompactionEntry` |",
        "| `c` | nothing |",
      ].join("\n"),
    ),
  ).toHaveLength(3);
});

/** The packages as npm would publish them: every entry point is there, and its types are found and right. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const out = mkdtempSync(join(tmpdir(), "stet-pack-"));
afterAll(() => rmSync(out, { recursive: true, force: true }));

const packages = readdirSync(join(root, "packages"));

/** For ESM only, as all of ours are: what CommonJS sees is no finding. */
const ESM_ONLY = ["CJSResolvesToESM", "NoResolution"];

describe.each(packages)("%s", (name) => {
  const folder = join(root, "packages", name);

  it("has no finding of publint", async () => {
    const { messages } = await publint({ pkgDir: folder, strict: true });
    expect(messages).toEqual([]);
  });

  it("has types that resolve, and say what the code exports", async () => {
    const said = execFileSync("npm", ["pack", "--json", "--pack-destination", out], { cwd: folder, encoding: "utf8" });
    const { filename } = JSON.parse(said)[0];
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(join(out, filename))));
    expect(analysis.types, "types are shipped").not.toBe(false);
    const problems = "problems" in analysis ? analysis.problems : [];
    expect(
      problems.filter(
        (p) => !ESM_ONLY.includes(p.kind) || ("resolutionKind" in p && p.resolutionKind === "node16-esm"),
      ),
    ).toEqual([]);
  }, 60_000);
});

it("the control fails: an entry point that is not there is found", async () => {
  const folder = mkdtempSync(join(out, "broken-"));
  const broken = { name: "broken", version: "1.0.0", type: "module", exports: { ".": "./nowhere.js" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(broken));
  expect((await publint({ pkgDir: folder })).messages.map(({ code }) => code)).toContain("FILE_DOES_NOT_EXIST");
});

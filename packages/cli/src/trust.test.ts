import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isTrusted, withoutUntrusted } from "./trust.ts";

const scratch = mkdtempSync(join(tmpdir(), "stet-trust-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("what a project may not decide by itself", () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ["extensions", { extensions: ["x.mjs"] }, ["extensions"]],
    ["its own trust", { trustedProjects: ["/"] }, ["trustedProjects"]],
    ["a freer mode", { mode: "all" }, ["mode = all"]],
    ["a stricter mode is its own affair", { mode: "read-only" }, []],
    ["a provider elsewhere", { providers: { x: { baseUrl: "https://x.example/v1" } } }, ["providers.x"]],
    ["a provider without an address", { providers: { x: { keyVariable: "OPENAI_API_KEY" } } }, ["providers.x"]],
    [
      "a host that only begins like this machine",
      { providers: { x: { baseUrl: "http://localhost.evil" } } },
      ["providers.x"],
    ],
    ["a name before this machine's", { providers: { x: { baseUrl: "http://127.0.0.1@evil" } } }, ["providers.x"]],
    ["a provider on this machine", { providers: { x: { baseUrl: "http://127.0.0.1:8080/v1" } } }, []],
    ["limits and presets", { preset: "omk", compaction: { keepRecentTokens: 5 } }, []],
  ])("%s", (_name, settings, left) => {
    const { settings: kept, left: found } = withoutUntrusted(settings, "ask");
    expect(found).toEqual(left);
    if (left.length === 0) expect(kept).toEqual(settings);
  });

  test("trust is for a folder and what is in it, whatever link leads there", () => {
    mkdirSync(join(scratch, "a/b"), { recursive: true });
    mkdirSync(join(scratch, "ab"));
    symlinkSync(join(scratch, "a"), join(scratch, "link"));
    const trusted = [join(scratch, "a")];
    const trusts = (path: string) => isTrusted(join(scratch, path), trusted);
    expect([trusts("a"), trusts("a/b"), trusts("link/b"), trusts("ab"), trusts(".")]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(isTrusted(scratch, [])).toBe(false);
  });
});

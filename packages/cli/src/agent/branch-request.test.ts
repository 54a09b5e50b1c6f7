import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PRESETS, type Preset } from "@stet/core";
import { createSession, defaultPorts } from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { afterAll, describe, expect, it, vi } from "vitest";
import { loadSettings } from "../settings.ts";
import { type BranchWishes, branchRequest } from "./branch-request.ts";

const home = mkdtempSync(join(tmpdir(), "stet-branch-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const session = await createSession(
  defaultPorts(new MemoryStore(), () => undefined),
  "memory/s.jsonl",
  "/p",
);

function asked(preset: Preset, wishes: BranchWishes) {
  vi.stubEnv("STET_HOME", home);
  const settings = { ...loadSettings(home, preset), branchReserveTokens: 28_000 };
  vi.unstubAllEnvs();
  return branchRequest({ session, settings, env: process.env, emit: () => {} }, wishes);
}

describe("the words of the user", () => {
  const focus = "the parser";
  it.each([
    ["stet", { focus }, undefined],
    ["stet", { focus, replaceInstructions: true }, true],
    ["musepi", { focus }, true],
    ["musepi", { focus, replaceInstructions: true }, true],
    ["omk", { focus }, undefined],
    ["musepi", {}, undefined],
  ] as const)("%s, %j: replaces the prompt: %s", (preset, wishes, replaces) => {
    const request = asked(preset, wishes);
    expect(request.replacesPrompt).toBe(replaces);
    expect(request.focus).toBe("focus" in wishes ? focus : undefined);
    expect(request.inputTokens).toBe(100_000);
  });

  it("what cannot be is one clear line", () => {
    expect(() => asked("omk", { focus, replaceInstructions: true })).toThrow(/omk adds a focus/);
    for (const preset of Object.keys(PRESETS) as Preset[])
      expect(() => asked(preset, { replaceInstructions: true })).toThrow(/add --focus TEXT/);
  });
});

it.each([
  ["stet", {}, "ask"],
  ["musepi", {}, "never"],
  ["musepi", { enabled: true }, "ask"],
  ["stet", { enabled: false }, "never"],
  ["omk", { skipPrompt: true }, "never"],
  ["omk", { enabled: true, skipPrompt: true }, "never"],
] as const)("%s with branchSummary %j: %s", (preset, branchSummary, offered) => {
  writeFileSync(join(home, "settings.json"), JSON.stringify({ branchSummary }));
  vi.stubEnv("STET_HOME", home);
  expect(loadSettings(home, preset).behaviour.branchSummary).toBe(offered);
  vi.unstubAllEnvs();
  rmSync(join(home, "settings.json"));
});

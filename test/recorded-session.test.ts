/** The shipped session: sound, convincing, and what its script records. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Node, SessionTree } from "@stet/core";
import { textSource } from "@stet/testkit";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-recorded-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const text = readFileSync(join(root, "examples/sessions/invoice.jsonl"), "utf8");
const facts = JSON.parse(readFileSync(join(root, "examples/sessions/invoice.facts.json"), "utf8"));

/** Nodes of the head's path. */
function nodesOf(session: string): Node[] {
  const tree = SessionTree.read(textSource(session), "invoice.jsonl");
  expect(tree.problems).toEqual([]);
  const path = tree.path();
  expect(path.problems).toEqual([]);
  return path.nodes.map(({ node }) => node);
}

/** What must be the same in every recording: types, roles, tools, the user's words. */
function shapeOf(session: string): string[] {
  return nodesOf(session).map((node) => {
    if (node.type !== "message") return node.type;
    const { message } = node;
    if (message.role === "toolResult") return `result of ${message.toolName}${message.isError ? ", failed" : ""}`;
    if (message.role === "user") return `user: ${JSON.stringify(message.content)}`;
    if (message.role !== "assistant") return message.role;
    return `assistant: ${message.content.map((block) => (block.type === "toolCall" ? block.name : block.type)).join()}`;
  });
}

describe("the shipped session", () => {
  it("is sound, and every call has its result", () => {
    const nodes = nodesOf(text);
    const calls = nodes.flatMap((node) =>
      node.type === "message" && node.message.role === "assistant"
        ? node.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
        : [],
    );
    const results = nodes.flatMap((node) =>
      node.type === "message" && node.message.role === "toolResult" ? [node.message.toolCallId] : [],
    );
    expect(results).toEqual(calls);
    expect(calls.length).toBeGreaterThan(40);
    expect(nodes.filter((node) => node.type === "message" && node.message.role === "user").length).toBeGreaterThan(12);
  });

  it("holds what its facts say, word for word", () => {
    const spelt = (words: string) => JSON.stringify(words).slice(1, -1);
    for (const words of [...facts.rules, ...facts.errors, ...facts.modified]) expect(text).toContain(spelt(words));
  });

  it("names nothing of the machine it was recorded on", () => {
    expect(text).not.toMatch(/\/(?:tmp|home|root|Users)\/|stet-record-/);
  });

  it("is what the script records here: the same turns, tools, failures and words", () => {
    const out = join(scratch, "again.jsonl");
    const run = spawnSync(process.execPath, [join(root, "examples/record-session.mjs"), out], { encoding: "utf8" });
    expect(run.status, run.stderr).toBe(0);
    expect(shapeOf(readFileSync(out, "utf8"))).toEqual(shapeOf(text));
  }, 60_000);
});

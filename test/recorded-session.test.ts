/** The recorded session that ships with the repository: sound as it is, and the same when it is recorded again. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Entry, isNode, type Message, redact, SessionTree } from "@stet/core";
import { textSource } from "@stet/testkit";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const shipped = join(root, "examples", "sessions", "invoice.jsonl");
const scratch = mkdtempSync(join(tmpdir(), "stet-recorded-"));
/** Running the recorder starts a test runner about twenty times. */
const RECORDING_MS = 120_000;

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const facts: { rules: string[]; errors: string[]; modified: string[] } = JSON.parse(
  readFileSync(shipped.replace(/\.jsonl$/, ".facts.json"), "utf8"),
);

function readTree(file: string): SessionTree {
  return SessionTree.read(textSource(readFileSync(file)), file);
}

function messages(tree: SessionTree): Message[] {
  return [...tree.entries()].flatMap(({ entry }) => (entry.type === "message" ? [entry.message] : []));
}

function textOf(message: Message): string {
  if (!("content" in message)) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Ids of calls that the results right after their message do not answer one by one, in order. */
function unpaired(all: readonly Message[]): string[] {
  return all.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const results = all.slice(at + 1, at + 1 + calls.length);
    return calls.filter((id, index) => {
      const result = results[index];
      return result?.role !== "toolResult" || result.toolCallId !== id;
    });
  });
}

/** What two recordings must share; outputs may differ with the version of Node. */
function shapeOf({ entry }: { entry: Entry }): unknown {
  if (entry.type !== "message") return entry.type;
  const { message } = entry;
  if (message.role === "user") return ["user", textOf(message)];
  if (message.role === "toolResult") return ["toolResult", message.toolName, message.isError];
  if (message.role !== "assistant") return message.role;
  return ["assistant", message.stopReason, ...message.content.map((b) => (b.type === "toolCall" ? b.name : b.type))];
}

describe("the shipped session", () => {
  const tree = readTree(shipped);
  const all = messages(tree);

  it("is read without a problem and is one path", () => {
    expect(tree.problems).toEqual([]);
    const nodes = [...tree.entries()].filter(({ entry }) => isNode(entry));
    expect(tree.path().nodes.map(({ node }) => node.id)).toEqual(nodes.map(({ entry }) => entry.id));
  });

  it("answers every call with its own result", () => {
    expect(unpaired(all)).toEqual([]);
    const calls = all.flatMap((m) => (m.role === "assistant" ? m.content.filter((b) => b.type === "toolCall") : []));
    expect(all.filter(({ role }) => role === "toolResult")).toHaveLength(calls.length);
  });

  it("control: a lost result is noticed", () => {
    const last = all.findLastIndex(({ role }) => role === "toolResult");
    expect(unpaired(all.toSpliced(last, 1))).toHaveLength(1);
  });

  it("holds every fact of the sidecar word for word", () => {
    const said = all.filter(({ role }) => role === "user").map(textOf);
    for (const rule of facts.rules) expect(said.filter((text) => text.includes(rule))).toHaveLength(1);
    const failed = all.filter((m) => m.role === "toolResult" && m.isError).map(textOf);
    for (const line of facts.errors) expect(failed.flatMap((text) => text.split("\n"))).toContain(line);
    const changed = all.flatMap((m) =>
      m.role === "assistant"
        ? m.content.flatMap((b) => (b.type === "toolCall" && /^(write|edit)$/.test(b.name) ? [b.arguments.path] : []))
        : [],
    );
    expect([...new Set(changed)].sort()).toEqual(facts.modified);
  });

  it("shows what a real session shows", () => {
    const kinds = new Set([...tree.entries()].map(({ entry }) => entry.type));
    for (const kind of ["model_change", "label", "session_info", "request_frame"]) expect(kinds).toContain(kind);
    expect(all.filter((m) => m.role === "assistant" && m.stopReason === "aborted")).toHaveLength(1);
    const said = all.filter(({ role }) => role === "user").map(textOf);
    expect(said.length).toBeGreaterThanOrEqual(14);
    expect(said.some((text) => text.startsWith("Bitte"))).toBe(true);
    expect(said.some((text) => /[ぁ-ん]/.test(text))).toBe(true);
    const output = all.filter(({ role }) => role === "toolResult").map(textOf);
    expect(
      output.filter((text) => /^# fail [1-9]/m.test(text) && /stack: \|-\n\s+\S+ \(file:/.test(text)).length,
    ).toBeGreaterThan(0);
    expect(output.filter((text) => /^# fail 0$/m.test(text)).length).toBeGreaterThan(5);
  });

  it("carries one credential, which is found", () => {
    const leaky = all.map(textOf).filter((text) => redact(text).text.includes("[REDACTED]"));
    expect(leaky).toHaveLength(1);
    expect(leaky[0]).toContain("password=fake-hunter2");
  });

  it("names no folder of the machine it was recorded on", () => {
    expect(readFileSync(shipped, "utf8")).not.toMatch(/stet-record-|\/home\/|\/Users\/|\/tmp\//);
  });
});

describe("recording", () => {
  it("gives the same session again", { timeout: RECORDING_MS }, () => {
    const out = join(scratch, "again.jsonl");
    const run = spawnSync(process.execPath, [join(root, "examples", "record-session.mjs"), out], { encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
    const shapes = (file: string) => [...readTree(file).entries()].map(shapeOf);
    expect(shapes(out)).toEqual(shapes(shipped));
    expect(JSON.parse(readFileSync(join(scratch, "again.facts.json"), "utf8"))).toEqual(facts);
  });

  it("without a file name: exit 2 and what to do", () => {
    const run = spawnSync(process.execPath, [join(root, "examples", "record-session.mjs")], { encoding: "utf8" });
    expect(run.status).toBe(2);
    expect(run.stderr).toMatch(/^error: .+; name one/);
  });
});

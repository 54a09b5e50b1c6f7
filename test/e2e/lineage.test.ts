/** Fork, clone, rename, delete and back, through the built command line. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-lineage-"));
const shipped = join(scratch, "invoice.jsonl");
copyFileSync(join(root, "examples", "sessions", "invoice.jsonl"), shipped);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const shaOf = (value: unknown) => sha256(JSON.stringify(value));
const sha = (file: string) => sha256(readFileSync(file));

function stet(...args: string[]) {
  const run = spawnSync(process.execPath, [join(root, "bin", "stet.mjs"), ...args], {
    encoding: "utf8",
    env: { ...process.env, STET_HOME: join(scratch, "home") },
    maxBuffer: 1 << 28,
  });
  return { code: run.status, stderr: run.stderr, json: () => JSON.parse(run.stdout) };
}

it("fork at an entry has the parent's context there, is found by its id, and shows where it comes from", () => {
  const before = sha(shipped);
  const parent = stet("show", shipped, "--json").json().lineage;
  const nodes = stet("tree", shipped, "--json").json().nodes;
  const middle = nodes.filter((node: { role?: string }) => node.role === "assistant")[6].id;
  const forked = stet("fork", shipped, middle, "--json").json();
  expect(forked).toMatchObject({ outcome: "committed", parentSession: parent.sessionId, parentEntryId: middle });
  const there = stet("context", shipped, "--at", middle, "--json").json();
  const here = stet("context", forked.sessionId, "--json").json();
  expect(sha256(JSON.stringify(here.request))).toBe(sha256(JSON.stringify(there.request)));
  expect([there.head, here.head]).toEqual([middle, middle]);
  expect(stet("verify", forked.file, "--json").json()).toMatchObject({ ok: true, problems: [] });
  const family = stet("show", forked.sessionId, "--json").json().lineage;
  expect(family).toMatchObject({ parentSession: parent.sessionId, parentEntryId: middle, children: [] });
  const grandchild = stet("clone", forked.sessionId, "--json").json();
  expect(stet("show", forked.sessionId, "--json").json().lineage.children).toMatchObject([
    { id: grandchild.sessionId, file: grandchild.file },
  ]);
  expect(stet("show", grandchild.sessionId, "--json").json().lineage.parentFile).toBe(forked.file);
  const { sessions } = stet("sessions", "--json").json();
  expect(sessions.find((row: { id: string }) => row.id === forked.sessionId)).toMatchObject({
    parentSession: parent.sessionId,
    parentEntryId: middle,
  });
  const asked = nodes.find((node: { role?: string }) => node.role === "user");
  const again = stet("fork", shipped, asked.id, "--before", "--json").json();
  expect(again.editorText).toContain(asked.preview.slice(0, 40));
  expect(stet("fork", shipped, "nowhere").code).toBe(2);
  expect(stet("fork", shipped, middle, "--out", shipped).code).toBe(2);
  expect(sha(shipped)).toBe(before);
});

it("another agent's session is forked and cloned as it is read, model included; its file is never touched", () => {
  const foreign = join(root, "packages/interop/src/fixtures/claude-code-compacted.jsonl");
  const before = sha(foreign);
  const request = (...args: string[]) => shaOf(stet("context", ...args, "--json").json().request);
  const forked = stet("fork", foreign, "u1", "--json").json();
  expect(request(forked.file)).toBe(request(foreign, "--at", "u1"));
  expect(request(stet("clone", foreign, "--json").json().file)).toBe(request(foreign));
  const child = stet("handoff", foreign, "--json").json();
  expect(stet("undo", child.file, "--json").json()).toMatchObject({ file: foreign, undone: { kind: "handoff" } });
  expect(sha(foreign)).toBe(before);
});

it("rename, delete, and back: nothing is lost, and what is held or foreign is refused", () => {
  const file = join(scratch, "kept.jsonl");
  const made = stet("clone", shipped, "--out", file, "--json").json();
  mkdirSync(`${file}.blobs`);
  writeFileSync(join(`${file}.blobs`, "b"), "bytes");
  expect(stet("rename", file, "The invoice", "--json").json()).toMatchObject({
    outcome: "committed",
    name: "The invoice",
  });
  expect(stet("rename", file, " ").code).toBe(2);
  expect(stet("show", file, "--json").json().lineage.name).toBe("The invoice");
  const before = sha(file);
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: process.pid, host: hostOf(), token: "t" }));
  expect(stet("delete", file).code).toBe(6);
  rmSync(`${file}.lock`);
  expect(stet("delete", file, "--json").json()).toMatchObject({ outcome: "committed", sessionId: made.sessionId });
  for (const gone of [file, `${file}.blobs`, `${file}.lock`]) expect(existsSync(gone)).toBe(false);
  expect(stet("trash", "--json").json().sessions).toMatchObject([
    { sessionId: made.sessionId, file, title: "The invoice" },
  ]);
  writeFileSync(file, "something else");
  expect(stet("trash", "restore", made.sessionId).code).toBe(2);
  rmSync(file);
  expect(stet("trash", "restore", made.sessionId, "--json").json()).toMatchObject({ file });
  expect(sha(file)).toBe(before);
  expect(readFileSync(join(`${file}.blobs`, "b"), "utf8")).toBe("bytes");
  expect(stet("trash", "--json").json()).toEqual({ sessions: [] });
  expect(stet("trash", "restore", made.sessionId).code).toBe(2);
  const foreign = join(scratch, "pi.jsonl");
  writeFileSync(foreign, '{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/"}\n');
  expect(stet("delete", foreign).code).toBe(2);
  expect(existsSync(foreign)).toBe(true);
});

it("undo of a handoff reopens the parent; in place and saved where set", () => {
  const parent = join(scratch, "handing.jsonl");
  stet("clone", shipped, "--out", parent);
  const before = stet("context", parent, "--json").json();
  const child = stet("handoff", parent, "--json").json();
  expect(stet("show", parent, "--json").json().lineage.children).toMatchObject([{ file: child.file }]);
  const undone = stet("undo", child.file, "--json");
  expect(undone.json()).toMatchObject({ outcome: "committed", file: parent, undone: { kind: "handoff" }, queued: 0 });
  expect(stet("undo", child.file).code).toBe(4);
  expect(shaOf(stet("context", parent, "--json").json().request)).toBe(shaOf(before.request));
  stet("config", "set", "compaction.handoffSaveToDisk", "true");
  const saved = stet("handoff", parent, "--json").json();
  expect(readFileSync(saved.savedPath, "utf8")).toBe(`${saved.document}\n`);
  expect(stet("undo", parent, "--json").json()).toMatchObject({ file: parent, undone: { kind: "handoff" } });
  const inPlace = stet("handoff", parent, "--in-place", "--json");
  expect(inPlace.json()).toMatchObject({ outcome: "committed", file: parent, entryId: expect.any(String) });
  expect(stet("undo", parent, "--json", "--window", "1000000").json()).toMatchObject({
    undone: { kind: "compaction" },
  });
  expect(shaOf(stet("context", parent, "--json").json().request)).toBe(shaOf(before.request));
  const orphan = stet("handoff", parent, "--json").json();
  rmSync(parent);
  expect(stet("undo", orphan.file).code).toBe(3);
  expect(stet("context", orphan.file, "--json").json().violations).toEqual([]);
});

function hostOf(): string {
  return spawnSync(process.execPath, ["-p", "require('os').hostname()"], { encoding: "utf8" }).stdout.trim();
}

/**
 * The behaviours both source systems document for remote and native compaction, by their numbers. Where a decision of ours
 * overrides one, the test asserts ours and says so. What needs a provider's wire stands in test/engine/native.test.ts and
 * beside packages/providers/src/native; the second document has no remote compaction.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type CompactionEntry, type Json, type NativeItem, redact } from "@stet/core";
import { type NoteWriter, rewrite, rewriteByNote, type Session } from "@stet/engine";
import { type EndpointServer, startEndpointServer } from "@stet/testkit";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type MethodSetup, methodList, methodNamed } from "../../packages/cli/src/agent/methods.ts";
import { loadSettings } from "../../packages/cli/src/settings.ts";
import { payloadOf } from "../../packages/writers/src/native/payload.ts";
import { answer, call, LOCAL, message, requestOf, result, testFolder, user } from "../engine/harness.ts";

const { create } = testFolder();
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const options = { retainedTokens: 64_000, redact };
const item: NativeItem = { type: "compaction", id: "cmp_0", encrypted_content: "b3BhcXVl" };
const said = (text: string, role = "user"): NativeItem => ({
  type: "message",
  role,
  content: [{ type: role === "user" ? "input_text" : "output_text", text }],
});
const textsOf = (payload: ReturnType<typeof payloadOf>) =>
  "refused" in payload
    ? payload.refused
    : payload.content.flatMap(
        ({ content }) => (content as { text: string }[] | undefined)?.map(({ text }) => text) ?? [],
      );

describe("musepi §7.3: what /responses/compact gives", () => {
  const given = (items: NativeItem[], userTexts = ["one", "two"]) =>
    payloadOf({ way: "compact", items, stop: "completed", userTexts }, options);

  it("messages of user and assistant and compaction items stay, everything else goes", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
    const tool = { type: "function_call", call_id: "c", name: "n", arguments: "{}" };
    const payload = given([said("one"), reasoning, said("mine", "assistant"), tool, said("two"), item]);
    expect(textsOf(payload)).toEqual(["one", "mine", "two"]);
  });

  it.each<[string, NativeItem[], string]>([
    ["the last compaction item is required", [said("one")], "no compaction item came"],
    ["and needs its encrypted content as text", [{ type: "compaction", encrypted_content: 7 }], "has no payload"],
  ])("%s", (_, items, why) => {
    expect(given(items)).toEqual({ refused: expect.stringContaining(why) });
  });

  it("`compaction_summary`, the older name, is sent back under the one the wire takes", () => {
    expect(given([{ type: "compaction_summary", encrypted_content: "x" }])).toEqual({
      content: [{ type: "compaction", encrypted_content: "x" }],
    });
  });

  it("ours: words of the user that nobody sent are left out, credentials masked", () => {
    const key = `sk-ant-api03-${"Zx81".repeat(12)}`;
    expect(textsOf(given([said(`key ${key}`), said("obey me"), item], [`key ${key}`]))).toEqual(["key [REDACTED]"]);
  });
});

describe("musepi §7.4: what the stream gives", () => {
  const given = (userTexts: string[], retainedTokens: number, items: NativeItem[] = [item], stop = "completed") =>
    payloadOf({ way: "stream", items, stop, userTexts }, { ...options, retainedTokens });

  it("a completion event and exactly one compaction item", () => {
    expect(given([], 1, [])).toEqual({ refused: "0 compaction items came instead of one" });
    expect(given([], 1, [item, item])).toEqual({ refused: "2 compaction items came instead of one" });
    expect(given([], 1, [item], "incomplete")).toEqual({ refused: "the response ended incomplete" });
    expect(given([], 1, [item], "")).toEqual({ refused: "the response ended without a status" });
    expect(given(["one"], 10, [said("thinking aloud", "assistant"), item])).toMatchObject({ content: [{}, item] });
  });

  it("the user's messages, newest first within the budget, in their own order, then the item", () => {
    expect(textsOf(given(["a".repeat(40), "b".repeat(40), "c".repeat(40)], 20))).toEqual([
      "b".repeat(40),
      "c".repeat(40),
    ]);
  });

  it("the one at the edge loses its middle, and says how much", () => {
    const [edge, newest] = textsOf(given(["never", `begin ${"x".repeat(4000)} end`, "newest"], 100)) as string[];
    expect(newest).toBe("newest");
    expect(edge).toMatch(/^begin x+\n\[… \d+ characters left out …\]\nx* end$/);
    expect(edge?.length).toBeLessThanOrEqual(400);
  });

  it("a budget without room for anything keeps the item alone", () => {
    expect(given(["long enough to be cut ".repeat(20)], 1)).toEqual({ content: [item] });
  });
});

describe("musepi §7.6: what Anthropic gives", () => {
  const block = {
    type: "compaction",
    content: "## Goal\nx",
    signature: "s",
    encrypted_content: null,
    tool_changes: [],
  };
  const given = (items: NativeItem[], stop = "compaction") =>
    payloadOf({ way: "summarize", items, stop, userTexts: [] }, options);

  it("one signed block, whole; its words are the readable summary", () => {
    expect(given([block])).toEqual({ content: [block], summary: "## Goal\nx" });
  });

  it.each<[NativeItem[], string | undefined]>([
    [[{ ...block, signature: null }], undefined],
    [[{ ...block, content: null }], undefined],
    [[block, block], undefined],
    [[], undefined],
    [[block], "end_turn"],
  ])("no signed summary is a failure (%#)", (items, stop) => {
    expect(given(items, stop)).toHaveProperty("refused");
  });
});

const folder = mkdtempSync(join(tmpdir(), "stet-remote-"));
const home = process.env.STET_HOME;
process.env.STET_HOME = join(folder, "home");
let server: EndpointServer | undefined;
afterEach(() => server?.close());
afterAll(() => {
  if (home === undefined) delete process.env.STET_HOME;
  else process.env.STET_HOME = home;
  rmSync(folder, { recursive: true, force: true });
});

let serial = 0;
/** A setup as the commands make it, with these settings in the project. */
function setupFor(session: Session, settings: object, env: MethodSetup["env"] = {}) {
  const cwd = join(folder, `p${serial++}`);
  mkdirSync(join(cwd, ".stet"), { recursive: true });
  writeFileSync(join(cwd, ".stet/settings.json"), JSON.stringify(settings));
  const warnings: string[] = [];
  const emit: MethodSetup["emit"] = (event) => {
    if (event.type === "warning") warnings.push(event.message);
  };
  return { setup: { session, settings: loadSettings(cwd), env, emit }, warnings };
}
const names = (setup: MethodSetup) => methodList(setup).map(({ id }) => id);

async function long(provider = "p", api = "anthropic-messages"): Promise<Session> {
  const session = await create(`remote-${serial++}`, [user("Never touch the vendor folder."), answer("ok")]);
  for (let i = 0; i < 14; i++)
    await session.append([
      user(`request ${i}`),
      call(`c${i}`, "read", { path: `src/${i}.ts` }),
      result(`c${i}`, "read", words(260, `r${i}_`)),
      message({
        role: "assistant",
        content: [{ type: "text", text: "done" }],
        provider,
        api,
        model: "m",
        stopReason: "stop",
      }),
    ]);
  return session;
}
const GOOD = "## Goal\nBuild the parser.\n\n## Next Steps\n1. Go on.";
const PREFIX = "## Original Request\nthe parser\n\n## Context for Suffix\n- src/parser.ts";
/** The note that was asked for: of the history, or of the beginning of a turn. */
const noteFor = (body: object) => (JSON.stringify(body).includes("beginning of one long turn") ? PREFIX : GOOD);
const compacted = (session: Session, writers: readonly NoteWriter[], warnings: string[] = []) =>
  rewriteByNote(
    writers,
    (writer) =>
      rewrite(session, {
        trigger: "manual",
        writer,
        window: 16_000,
        keepRecentTokens: 1500,
        prepareToWrite: async () => {},
      }),
    (text) => warnings.push(text),
  );

describe("musepi §7.2: the custom endpoint", () => {
  it.each([
    ["/v1/chat/completions", (text: string) => ({ choices: [{ message: { content: text } }] })],
    ["/summaries", (summary: string) => ({ summary })],
  ])("%s writes the note, the record from the log below it", async (path, spell) => {
    server = await startEndpointServer(path, (body) => ({ body: JSON.stringify(spell(noteFor(body))) }));
    const session = await long();
    const settings = { compaction: { remoteEndpoint: server.url } };
    const { setup } = setupFor(session, settings, { STET_ENDPOINT_KEY: "of-no-shape" });
    const outcome = await compacted(session, [methodNamed("endpoint", setup) as NoteWriter]);
    expect(outcome).toMatchObject({ outcome: "committed", rewrite: { strategy: "endpoint" } });
    expect(requestOf(session)).toContain("Build the parser.");
    expect(requestOf(session)).toContain("Never touch the vendor folder.");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer of-no-shape");
    const calls = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.model] : []));
    expect(calls[0]).toBe(`endpoint/${new URL(server.url).host}`);
  });

  it.each([
    ["a status", () => ({ status: 500, body: "down" })],
    ["no summary", () => ({ body: "{}" })],
    ["a refusal in words", () => ({ body: JSON.stringify({ summary: "I'm sorry, I can't help with that." }) })],
  ])("plain failure (%s) falls back to the next method, with a warning", async (_, given) => {
    server = await startEndpointServer("/sum", given);
    const session = await long();
    const { setup } = setupFor(session, { compaction: { remoteEndpoint: server.url } });
    const warnings: string[] = [];
    const outcome = await compacted(session, [methodNamed("endpoint", setup) as NoteWriter, LOCAL], warnings);
    expect(outcome).toMatchObject({ outcome: "committed", rewrite: { strategy: "local" } });
    expect(warnings).toEqual([expect.stringMatching(/^endpoint: /)]);
  });

  it("ours: no key of a vendor goes to it; it has a key of its own, or none", async () => {
    server = await startEndpointServer("/sum", () => ({ body: JSON.stringify({ summary: GOOD }) }));
    const session = await long();
    const { setup } = setupFor(
      session,
      { compaction: { remoteEndpoint: server.url } },
      { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" },
    );
    await compacted(session, [methodNamed("endpoint", setup) as NoteWriter]);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe("musepi §7.5, §10: settings and order", () => {
  it("ours: `remoteEnabled` puts the vendor's own compaction, an endpoint that is set puts it, before the model; off and unset by default", async () => {
    const session = await long("openai", "openai-responses");
    const remoteEndpoint = "http://127.0.0.1:1/sum";
    const set = (compaction: object) => names(setupFor(session, { compaction }, { OPENAI_API_KEY: "k" }).setup);
    expect(set({})).toEqual(["prune", "model", "local"]);
    expect(set({ remoteEnabled: true })).toEqual(["prune", "native", "model", "local"]);
    expect(set({ remoteEndpoint })).toEqual(["prune", "endpoint", "model", "local"]);
    expect(set({ remoteEnabled: true, remoteEndpoint })).toEqual(["prune", "native", "endpoint", "model", "local"]);
    expect(set({ remoteEnabled: true, remoteEndpoint, strategy: "off" })).toEqual(["local"]);
  });

  it("a provider without a compaction of its own is said, and the next method used; named, it is an error with exit 5", async () => {
    const session = await long("openrouter", "openai-completions");
    const { setup, warnings } = setupFor(session, { compaction: { remoteEnabled: true } }, { OPENROUTER_API_KEY: "k" });
    expect(names(setup)).toEqual(["prune", "model", "local"]);
    expect(warnings.join()).toContain("no note by the provider itself: openrouter has no compaction of its own");
    expect(() => methodNamed("native", setup)).toThrow(expect.objectContaining({ exitCode: 5 }));
  });

  it("the streamed form is on and the budget at most 64000, as documented; ours: 8000 unless set", async () => {
    const session = await long();
    const remote = (compaction: object) => setupFor(session, { compaction }).setup.settings.remote;
    expect(remote({})).toEqual({ isNative: false, isStreaming: true, retainedTokens: 8000 });
    expect(remote({ v2RetainedMessageBudget: 0 }).retainedTokens).toBe(1);
    expect(remote({ v2RetainedMessageBudget: 100_000 }).retainedTokens).toBe(64_000);
    expect(remote({ remoteStreamingV2Enabled: false }).isStreaming).toBe(false);
  });

  it("a flag that is none stops with its name and exit 2; so does an address that is none, in the user's own file", async () => {
    const session = await long();
    const refusal = (named: string) =>
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(named) });
    expect(() => setupFor(session, { compaction: { remoteEnabled: "yes" } })).toThrow(
      refusal("compaction.remoteEnabled"),
    );
    const file = join(process.env.STET_HOME as string, "settings.json");
    mkdirSync(dirname(file), { recursive: true });
    for (const remoteEndpoint of ["file:///etc/passwd", "not an address"]) {
      writeFileSync(file, JSON.stringify({ compaction: { remoteEndpoint } }));
      expect(() => setupFor(session, {})).toThrow(refusal("compaction.remoteEndpoint"));
    }
    rmSync(file);
  });

  it("no address: said, with what to do", async () => {
    const { setup } = setupFor(await long(), {});
    expect(() => methodNamed("endpoint", setup)).toThrow("set compaction.remoteEndpoint");
  });
});

describe("sessions other tools compacted remotely", () => {
  const remote: Json = {
    provider: "openai",
    replacementHistory: [
      { type: "message", role: "user", content: "request 13" },
      { type: "compaction", encrypted_content: "b3BhcXVl" },
    ],
  };
  async function theirs(): Promise<Session> {
    const session = await long("openai", "openai-responses");
    const firstKeptEntryId = session.suffix.nodes.at(-4)?.node.id as string;
    await session.append([
      {
        type: "compaction",
        fields: {
          summary: "Remote compaction",
          firstKeptEntryId,
          tokensBefore: 9,
          preserveData: { openaiRemoteCompaction: remote },
        },
      },
    ]);
    return session;
  }

  it("musepi §12.60: the payload is shown to its provider, the raw kept part left out of the request and kept on display", async () => {
    const session = await theirs();
    const request = requestOf(session, "openai-responses");
    expect(request).toContain("b3BhcXVl");
    expect(request.split("request 13")).toHaveLength(2);
    expect(JSON.stringify(session.view.segments)).toContain("request 13");
  });

  it("musepi §12.24, ours: another provider gets the summary and the kept part; the hidden originals are not shown again", async () => {
    const session = await theirs();
    await session.append([
      { type: "model_change", fields: { provider: "p", modelId: "m", api: "anthropic-messages" } },
    ]);
    const request = requestOf(session);
    expect(request).toContain("Remote compaction");
    expect(request).toContain("request 13");
    expect(request).not.toContain("request 3");
    expect(request).not.toContain("b3BhcXVl");
  });

  it("musepi §7.5, §13.7: a local compaction leaves the payload behind; the placeholder is no earlier note, the facts come from the originals", async () => {
    const session = await theirs();
    for (let i = 0; i < 12; i++) await session.append([user(`later ${i}`), answer(words(300, `l${i}_`))]);
    let previous: string | undefined;
    const spy: NoteWriter = {
      id: "local",
      write: (task) => {
        previous = task.previous?.text;
        return LOCAL.write(task);
      },
    };
    expect(await compacted(session, [spy])).toMatchObject({ outcome: "committed" });
    expect(previous).toBe("");
    const entry = session.suffix.nodes.findLast(({ node }) => node.type === "compaction")?.node as CompactionEntry;
    expect(entry.preserveData).toBeUndefined();
    expect(entry.summary).toContain("Never touch the vendor folder.");
    expect(requestOf(session, "openai-responses")).not.toContain("b3BhcXVl");
  });
});

/** Compaction by the vendor itself and by a user's own address: what it gives, what it costs when it fails, who can read it. */
import { buildRequest, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import {
  type CompletionPorts,
  DEFAULT_RETRY,
  ESTIMATOR,
  frameFor,
  handoff,
  type NoteWriter,
  rewrite,
  rewriteByNote,
  type Session,
  undo,
  vendorCompaction,
} from "@stet/engine";
import { anthropicProvider, askEndpoint, openaiResponsesProvider } from "@stet/providers";
import { modelWriter, nativeWriter } from "@stet/writers";
import { afterAll, describe, expect, it } from "vitest";
import { LOCAL, message, requestOf, testFolder, user } from "./harness.ts";
import { type Fault, startNativeServer } from "./native-server.ts";

const { create, open } = testFolder();
const servers: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

const RULE = "Never touch the vendor folder.";
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const APIS = { anthropic: "anthropic-messages", openai: "openai-responses" } as const;
type Vendor = keyof typeof APIS;

const answerOf = (vendor: Vendor, text: string) =>
  message({
    role: "assistant",
    content: [{ type: "text", text }],
    provider: vendor,
    api: APIS[vendor],
    model: "m",
    stopReason: "stop",
  });

async function talk(session: Session, vendor: Vendor, turns = 20, from = 0): Promise<void> {
  for (let i = from; i < from + turns; i++)
    await session.append([
      user(`${i === 0 ? RULE : ""} request ${i} ${words(60, "u")}`),
      answerOf(vendor, words(150, "a")),
    ]);
}

async function setUp(name: string, vendor: Vendor, isStreaming = true, compactTimeoutMs = 60_000) {
  const server = await startNativeServer();
  servers.push(server);
  const options = {
    baseUrl: vendor === "openai" ? `${server.url}/v1` : server.url,
    apiKey: "k",
    compactTimeoutMs,
  };
  const provider =
    vendor === "openai"
      ? openaiResponsesProvider({ ...options, compaction: { isStreaming, retainedTokens: 2000 } })
      : anthropicProvider(options);
  const session = await create(name);
  await talk(session, vendor);
  let n = 0;
  const ports: CompletionPorts = {
    provider,
    model: { provider: vendor, id: "m", api: APIS[vendor] },
    retry: DEFAULT_RETRY,
    wait: async () => {},
    emit: () => {},
    newId: () => `call-${n++}`,
  };
  const writer: NoteWriter = nativeWriter(vendorCompaction(session, ports, 1000));
  return { server, session, writer, ports };
}

function compactBy(session: Session, writers: readonly NoteWriter[], failures: string[] = []) {
  const run = (writer: NoteWriter) =>
    rewrite(session, {
      trigger: "manual",
      writer,
      window: 24_000,
      keepRecentTokens: 900,
      prepareToWrite: async () => {},
    });
  return rewriteByNote(writers, run, (text) => failures.push(text));
}

const bodyFor = (session: Session, provider: string, api: string, family: (typeof PROVIDER_FAMILIES)[number]) =>
  buildRequest(session.view, { family, frame: { ...frameFor(session), provider, api } }, { estimator: ESTIMATOR }).body;

describe.each(["anthropic", "openai"] as const)("%s", (vendor) => {
  const family = vendor === "anthropic" ? "anthropic" : "openai-responses";

  it("musepi §12.60, 24 overridden: its block goes back to it first, the note beside it; nobody else sees it, and everybody has the words", async () => {
    const { server, session, writer } = await setUp(`native-${vendor}`, vendor);
    const before = requestOf(session, family);
    const done = await compactBy(session, [writer, LOCAL]);
    expect(done).toMatchObject({ outcome: "committed", rewrite: { strategy: "native", usage: { output: 50 } } });
    expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
    const body = bodyFor(session, vendor, APIS[vendor], family);
    expect(validateRequest(family, body)).toEqual([]);
    const list = (vendor === "anthropic" ? body.messages : body.input) as { type?: string; content?: unknown }[];
    const at = vendor === "anthropic" ? 0 : list.findIndex(({ type }) => type === "compaction");
    expect(JSON.stringify(list[at])).toContain(vendor === "anthropic" ? "sig==" : "b3BhcXVl");
    expect(JSON.stringify(list.slice(at + 1))).toContain(RULE);
    for (const other of PROVIDER_FAMILIES) {
      const theirs = bodyFor(session, "someone-else", "some-api", other);
      expect(validateRequest(other, theirs)).toEqual([]);
      expect(JSON.stringify(theirs)).not.toMatch(/sig==|b3BhcXVl/);
      expect(JSON.stringify(theirs)).toContain(RULE);
    }
    expect(requestOf(await open(session.file), family)).toBe(requestOf(session, family));
    await undo(session, { window: 1_000_000, prepareToWrite: async () => {} });
    expect(requestOf(session, family)).toBe(before);
  });

  it.each<[Fault, RegExp]>([
    ["refusal", /bad_request/],
    ["cut", /malformed/],
    ["none-or-two", /malformed/],
    ["silence", /no answer within/],
  ])("musepi §12.102, 101: %s: said, paid for, and the next method writes the note", async (fault, said) => {
    const timeoutMs = fault === "silence" ? 300 : 60_000;
    const { server, session, writer } = await setUp(`native-${vendor}-${fault}`, vendor, true, timeoutMs);
    server.fault = fault;
    const failures: string[] = [];
    expect(await compactBy(session, [writer, LOCAL], failures)).toMatchObject({
      outcome: "committed",
      rewrite: { strategy: "local" },
    });
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(said);
    const calls = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.outcome] : []));
    expect(calls).toHaveLength(1);
    expect(JSON.stringify(bodyFor(session, vendor, APIS[vendor], family))).toContain(RULE);
  });

  it("musepi §12.102: cancelled meanwhile: cancelled, and no other method is tried", async () => {
    const { server, session, writer } = await setUp(`native-${vendor}-cancel`, vendor);
    server.fault = "silence";
    const stop = new AbortController();
    const running = rewrite(session, {
      trigger: "manual",
      writer,
      window: 24_000,
      keepRecentTokens: 900,
      signal: stop.signal,
      prepareToWrite: async () => {},
    });
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await running).toMatchObject({ outcome: "cancelled" });
  });
});

describe("forms", () => {
  it("OpenAI: the streamed form refused, its own address is asked; messages of the user are kept within the budget", async () => {
    const { server, session, writer } = await setUp("v1", "openai", false);
    await compactBy(session, [writer, LOCAL]);
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/responses/compact"]);
    expect(Object.keys(server.requests[0]?.body ?? {})).not.toContain("tools");
    const compaction = session.suffix.nodes.findLast(({ node }) => node.type === "compaction")?.node;
    if (compaction?.type !== "compaction") throw new Error("no compaction");
    const [alternative] = compaction.alternatives ?? [];
    expect(alternative?.content.at(-1)).toEqual({
      type: "compaction",
      id: "cmp_1",
      encrypted_content: "b3BhcXVl".repeat(20),
    });
    const kept = JSON.stringify(alternative?.content.slice(0, -1));
    expect(Math.ceil(kept.length / 4)).toBeLessThan(3000);
    expect(kept).toContain("request 1");
  });

  it("Anthropic: the beta is named when it is asked for and when its block goes back, and not before", async () => {
    const { server, session, writer, ports } = await setUp("beta", "anthropic");
    const ask = async () => {
      const body = bodyFor(session, "anthropic", APIS.anthropic, "anthropic");
      for await (const event of ports.provider.call({ model: ports.model, body, signal: new AbortController().signal }))
        if (event.type === "end") expect(event.failure).toBeUndefined();
    };
    await ask();
    await compactBy(session, [writer, LOCAL]);
    await ask();
    expect(server.requests.map(({ headers }) => headers["anthropic-beta"])).toEqual([
      undefined,
      "compact-2026-09-04",
      "compact-2026-09-04",
    ]);
  });

  it.each([["/notes"], ["/v1/chat/completions"]])("musepi §12.100: an address of the user's own, %s", async (path) => {
    const { server, session } = await setUp(`endpoint${path.replaceAll("/", "-")}`, "anthropic");
    const secret = `sk-ant-api03-${"Zx81".repeat(12)}`;
    await session.append([user(`my key is ${secret}`), answerOf("anthropic", "noted")]);
    await talk(session, "anthropic", 6, 20);
    let n = 0;
    const complete = async (task: { system: string; user: string; maxOutputTokens: number }) => {
      const answer = await askEndpoint(
        { url: `${server.url}${path}`, apiKey: "own" },
        task,
        new AbortController().signal,
      );
      const base = { callId: `c${n++}`, model: "endpoint", hasToolCall: false, stopReason: "stop" as const };
      return "text" in answer ? { ...base, text: answer.text } : { ...base, text: "", failure: answer.failure.message };
    };
    const writer = { ...modelWriter({ complete, window: 200_000, maxOutputTokens: 4000 }), id: "endpoint" };
    expect(await compactBy(session, [writer, LOCAL])).toMatchObject({ rewrite: { strategy: "endpoint" } });
    const [request] = server.requests;
    expect(request?.headers.authorization).toBe("Bearer own");
    expect(JSON.stringify(request?.body)).not.toContain(secret);
    expect(Object.keys(request?.body ?? {})).toEqual(
      path === "/notes" ? ["systemPrompt", "prompt", "maxTokens"] : ["model", "messages", "max_tokens", "stream"],
    );
    server.fault = "cut";
    await talk(session, "anthropic", 12, 30);
    const failures: string[] = [];
    expect(await compactBy(session, [writer, LOCAL], failures)).toMatchObject({ rewrite: { strategy: "local" } });
    expect(failures[0]).toContain(path === "/notes" ? "has no summary" : "has no choices[0].message.content");
  });
});

it("compacted by one vendor, gone on with another, compacted locally, handed over: always legal, the rule always there", async () => {
  const { session, writer } = await setUp("journey", "anthropic");
  const check = (at: Session) => {
    for (const [provider, api, family] of [
      ["anthropic", APIS.anthropic, "anthropic"],
      ["openai", APIS.openai, "openai-responses"],
      ["local", "openai-completions", "openai-chat"],
      ["google", "google-generative-ai", "google"],
    ] as const) {
      const body = bodyFor(at, provider, api, family);
      expect(validateRequest(family, body)).toEqual([]);
      expect(JSON.stringify(body)).toContain(RULE);
    }
  };
  check(session);
  expect(await compactBy(session, [writer, LOCAL])).toMatchObject({ rewrite: { strategy: "native" } });
  check(session);
  await talk(session, "openai", 15, 20);
  check(session);
  expect(await compactBy(session, [LOCAL])).toMatchObject({ outcome: "committed" });
  check(session);
  expect(requestOf(session)).not.toContain("sig==");
  const out = session.file.replace(".jsonl", "-child.jsonl");
  const handed = await handoff(session, { out, writer: LOCAL, maxTokens: 3000 });
  expect(handed.outcome).toBe("committed");
  check(await open(out));
});

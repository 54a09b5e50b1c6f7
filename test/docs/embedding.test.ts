/** The agent the embedding page prints is the one in examples, and it works: against a server with the real rules, for turns. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { validateRequest } from "@stet/core";
import { type OpenOptions, open } from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { writeLocalNote } from "@stet/writers";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = readFileSync(join(root, "examples/agent.mjs"), "utf8");

it("docs/embedding.md prints the example as it is", () => {
  const page = readFileSync(join(root, "docs/embedding.md"), "utf8");
  const printed = /<!-- agent\.mjs -->\n```js\n([\s\S]*?)\n```/.exec(page)?.[1];
  expect(example.trimEnd().endsWith(printed ?? "nothing")).toBe(true);
  expect((printed ?? "").split("\n").length).toBeGreaterThan(15);
});

it("examples/agent.mjs: a tool call, an answer, and a second run that goes on with the session", async () => {
  const bodies: { [key: string]: never }[] = [];
  const answers = [
    [{ type: "tool_use", id: "toolu_1", name: "shell", input: { command: "echo out of the shell" } }],
    [{ type: "text", text: "It printed a line." }],
    [{ type: "text", text: "As I said before." }],
  ];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (bytes) => {
      text += bytes;
    });
    request.on("end", () => {
      const body = JSON.parse(text);
      bodies.push(body);
      const broken = validateRequest("anthropic", body);
      response.writeHead(broken.length > 0 ? 400 : 200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(
          broken.length > 0 ? { error: { message: broken[0]?.message } } : { content: answers[bodies.length - 1] },
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const cwd = mkdtempSync(join(tmpdir(), "stet-embed-"));
  const run = (words: string) =>
    new Promise<string>((resolve) => {
      const env = { ...process.env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: "k" };
      const child = spawn(process.execPath, [join(root, "examples/agent.mjs"), words], { cwd, env });
      let out = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (bytes) => {
          out += bytes;
        });
      child.on("close", () => resolve(out));
    });
  try {
    expect(await run("say something")).toBe("It printed a line.\n");
    expect(await run("what did you say?")).toBe("As I said before.\n");
    expect(JSON.stringify(bodies[2])).toContain("out of the shell");
  } finally {
    server.close();
    rmSync(cwd, { recursive: true, force: true });
  }
});

const options = (store: MemoryStore): OpenOptions => ({
  file: "host.jsonl",
  store,
  family: "openai-chat",
  model: { provider: "p", id: "m", api: "openai-completions" },
  window: 8000,
  system: { stable: "You help.", dynamic: "Today." },
  writers: [{ id: "local", write: writeLocalNote }],
});

it("prepare is idempotent, always fits, and restore gives a rewrite back; the file can be opened again", async () => {
  const store = new MemoryStore();
  const host = await open(options(store));
  for (let i = 0; i < 30; i++) {
    await host.record({ role: "user", content: `question ${i}, word for word` });
    const next = await host.prepare();
    expect(next.tokens).toBeLessThanOrEqual(next.hardLimit);
    expect(JSON.stringify((await host.prepare()).body)).toBe(JSON.stringify(next.body));
    expect(JSON.stringify(next.body)).toContain(`question ${i}, word for word`);
    expect(validateRequest("openai-chat", next.body)).toEqual([]);
    await host.record({ role: "assistant", content: [{ type: "text", text: `answer ${i} ${"word ".repeat(400)}` }] });
  }
  const { compactions } = await host.prepare();
  expect(compactions.length).toBeGreaterThan(1);
  await host.close();
  const again = await open(options(store));
  expect(JSON.stringify((await again.prepare()).body)).toContain("question 29, word for word");
  await again.close();
});

it("a host that died between call and result: the next record closes the call, and the request is legal", async () => {
  const host = await open(options(new MemoryStore()));
  await host.record({ role: "user", content: "go" });
  await host.record({ role: "assistant", content: [{ type: "toolCall", id: "c1", name: "x", arguments: {} }] });
  await host.record({ role: "user", content: "still there?" });
  const { body } = await host.prepare();
  expect(validateRequest("openai-chat", body)).toEqual([]);
  expect(JSON.stringify(body)).toContain("no result on this branch");
});

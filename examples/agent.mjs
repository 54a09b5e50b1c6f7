/*
 * A whole agent on Stet, with a transport of its own: `node examples/agent.mjs "…"`. Speaks to an Anthropic-style server at
 * ANTHROPIC_BASE_URL with ANTHROPIC_API_KEY; the session stays in agent.jsonl and can be gone on with for days.
 */
import { execSync } from "node:child_process";
import { open } from "@stet/engine";
import { JsonlStore } from "@stet/storage";
import { writeLocalNote } from "@stet/writers";

const base = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";
const headers = {
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
  "x-api-key": process.env.ANTHROPIC_API_KEY ?? "",
};
const shell = {
  name: "shell",
  description: "Runs a command.",
  parameters: { type: "object", properties: { command: { type: "string" } } },
};
const model = { provider: "anthropic", id: "claude-opus-4-5", api: "anthropic-messages" };
const writers = [{ id: "local", write: writeLocalNote }];

const session = await open({
  file: "agent.jsonl",
  store: new JsonlStore(),
  family: "anthropic",
  model,
  window: 200_000,
  system: "You work in this folder.",
  tools: [shell],
  writers,
});
await session.record({ role: "user", content: process.argv[2] ?? "What is in this folder?" });
for (let calls = [null]; calls.length > 0; ) {
  const { body } = await session.prepare();
  const answer = await (
    await fetch(`${base}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) })
  ).json();
  if (!Array.isArray(answer.content)) throw new Error(answer.error?.message ?? "no answer");
  calls = answer.content.filter((block) => block.type === "tool_use");
  const content = answer.content.map((block) =>
    block.type === "tool_use"
      ? { type: "toolCall", id: block.id, name: block.name, arguments: block.input }
      : { type: "text", text: block.text },
  );
  await session.record({ role: "assistant", content, ...model, model: model.id });
  const results = calls.map(({ id, input }) => {
    const text = execSync(`(${input.command}) 2>&1 || true`, { encoding: "utf8" });
    return { role: "toolResult", toolCallId: id, toolName: "shell", content: [{ type: "text", text }], isError: false };
  });
  if (results.length > 0) await session.record(...results);
  else process.stdout.write(`${content.map((block) => block.text).join("\n")}\n`);
}
await session.close();

/** A server that speaks every native compaction wire, and breaks in every way: for tests. Simulated vendor, real HTTP. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { validateRequest } from "@stet/core";

/** How the next native question is answered. */
export type Fault = "none" | "refusal" | "cut" | "none-or-two" | "silence";

export interface NativeRequest {
  path: string;
  headers: IncomingMessage["headers"];
  body: { [key: string]: unknown };
  violations: string[];
}

export interface NativeServer {
  url: string;
  requests: NativeRequest[];
  fault: Fault;
  close(): Promise<void>;
}

const USAGE = { input_tokens: 1000, output_tokens: 50, input_tokens_details: { cached_tokens: 0 } };
const events = (...list: object[]) => list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");

/** What is sent for one request; undefined keeps the connection open for ever. */
function answerTo(
  { path, body }: NativeRequest,
  fault: Fault,
): { status?: number; type: string; text: string } | undefined {
  const json = (value: object, status = 200) => ({ status, type: "application/json", text: JSON.stringify(value) });
  const stream = (text: string) => ({ type: "text/event-stream", text });
  const isNative =
    path.endsWith("/compact") ||
    body.compaction !== undefined ||
    (body.input as { type?: string }[] | undefined)?.at(-1)?.type === "compaction_trigger" ||
    path === "/notes" ||
    path === "/v1/chat/completions";
  if (isNative && fault === "silence") return undefined;
  if (isNative && fault === "refusal")
    return json({ error: { message: "not for this model", type: "invalid_request_error" } }, 400);
  const times = fault === "none-or-two" ? 2 : 1;
  const item = { type: "compaction", id: "cmp_1", encrypted_content: "b3BhcXVl".repeat(20), created_by: "server" };
  if (path.endsWith("/responses/compact")) {
    const users = (body.input as object[]).filter((one) => (one as { role?: string }).role === "user");
    const output = fault === "none-or-two" ? users : [...users, item];
    const text = JSON.stringify({ id: "r", object: "response.compaction", output, usage: USAGE });
    return { type: "application/json", text: fault === "cut" ? text.slice(0, 100) : text };
  }
  if (body.compaction !== undefined) {
    const block = {
      type: "compaction",
      content: "All numbers were read.",
      encrypted_content: null,
      signature: "sig==",
    };
    const content = fault === "none-or-two" ? [] : [block];
    const text = JSON.stringify({
      type: "message",
      role: "assistant",
      content,
      stop_reason: "compaction",
      usage: USAGE,
    });
    return { type: "application/json", text: fault === "cut" ? text.slice(0, 60) : text };
  }
  if (isNative && path.endsWith("/responses")) {
    const done = Array.from({ length: times }, () => ({ type: "response.output_item.done", item }));
    const end = { type: "response.completed", response: { status: "completed", usage: USAGE } };
    return stream(fault === "cut" ? events(...done) : events(...done, end));
  }
  if (path === "/notes") return json(fault === "cut" || fault === "none-or-two" ? {} : { summary: NOTE });
  if (path === "/v1/chat/completions")
    return json({ choices: fault === "none" ? [{ message: { content: NOTE } }] : [] });
  if (path.endsWith("/responses")) {
    const text = { type: "message", role: "assistant", content: [{ type: "output_text", text: "on with it" }] };
    return stream(
      events(
        { type: "response.output_item.done", output_index: 0, item: text },
        { type: "response.completed", response: { status: "completed", usage: USAGE } },
      ),
    );
  }
  return stream(
    events(
      { type: "message_start", message: { usage: USAGE } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "on with it" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: USAGE },
      { type: "message_stop" },
    ),
  );
}

/** A note with every section a sealed note needs. */
export const NOTE = [
  "## Goal\nRead the numbers.",
  "## Constraints & Preferences\n(none)",
  "## Progress\n### Done\n- [x] read\n\n### In Progress\n- [ ] more\n\n### Blocked\n(none)",
  "## Key Decisions\n(none)",
  "## Next Steps\n1. Go on.",
  "## Critical Context\n(none)",
].join("\n\n");

export async function startNativeServer(): Promise<NativeServer> {
  const requests: NativeRequest[] = [];
  const made: NativeServer = { url: "", requests, fault: "none", close: () => stop(server) };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const path = incoming.url?.replace(/\?.*/, "") ?? "";
      const family = path.includes("/messages")
        ? "anthropic"
        : path.endsWith("/responses")
          ? "openai-responses"
          : undefined;
      const violations = family ? validateRequest(family, body).map(({ rule }) => rule) : [];
      const request = { path, headers: incoming.headers, body, violations };
      requests.push(request);
      const answer = answerTo(request, made.fault);
      if (!answer) return;
      response.writeHead(answer.status ?? 200, { "content-type": answer.type });
      response.end(answer.text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return made;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

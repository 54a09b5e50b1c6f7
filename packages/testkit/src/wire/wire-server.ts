/**
 * A local server that speaks one family's wire: holds every request to the family's rules, plays scripted answers byte by
 * byte, and fails in each documented way. Bound to 127.0.0.1. Must not know any client of ours.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type NativeWay, type ProviderFamily, type Violation, validateCompaction, validateRequest } from "@stet/core";
import { spellCompaction, type WireCompaction } from "./spell-compaction.ts";
import type { WireAnswer } from "./wire-answer.ts";
import { wireEvents } from "./wire-events.ts";
import { type WireFault, wireErrorEvent, wireRefusal } from "./wire-fault.ts";

/** What the server does with one request. */
export interface WireTurn {
  answer?: WireAnswer;
  /** Where the request asks for the provider's own compaction. */
  compaction?: WireCompaction;
  fault?: WireFault;
}

/** A request as it came. */
export interface WireRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: { [key: string]: unknown };
  violations: Violation[];
}

/** Options of {@link startWireServer}. */
export interface WireServerOptions {
  family: ProviderFamily;
  /** In order; a request beyond the last is refused. */
  turns: readonly WireTurn[];
  /** Bytes of one write. Default 64. */
  chunkBytes?: number;
}

/** A running server. */
export interface WireServer {
  /** What a client of this family takes as its base address. */
  baseUrl: string;
  requests: WireRequest[];
  close(): Promise<void>;
}

const BASE_PATHS: Readonly<Record<ProviderFamily, string>> = {
  anthropic: "",
  "openai-responses": "/v1",
  "openai-chat": "/v1",
  google: "/v1beta",
};
const PATHS: Readonly<Record<ProviderFamily, RegExp>> = {
  anthropic: /^\/v1\/messages(\?beta=true)?$/,
  "openai-responses": /^\/v1\/responses(\/compact)?$/,
  "openai-chat": /^\/v1\/chat\/completions$/,
  google: /^\/v1beta\/models\/[^/]+:streamGenerateContent\?alt=sse$/,
};

/** Starts a server on a free port. */
export async function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const server = createServer((request, response) => {
    respond(options, requests, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${BASE_PATHS[options.family]}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  { family, turns, chunkBytes = 64 }: WireServerOptions,
  requests: WireRequest[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = request.url ?? "";
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const way = wayOf(family, path, body);
  const violations = way ? validateCompaction(way, body) : validateRequest(family, body);
  const turn = turns[requests.length];
  requests.push({ path, headers: request.headers, body, violations });
  const streams = family === "google" || body.stream === true || way === "compact";
  if (!PATHS[family].test(path))
    return refuse(response, 404, JSON.stringify({ error: { message: "no such address" } }));
  const fault =
    violations[0]?.message ?? (streams ? (turn ? undefined : "the script ends here") : "no stream asked for");
  if (fault !== undefined) return refuse(response, 400, JSON.stringify({ error: { message: fault } }));
  if (way === "summarize" && !String(request.headers["anthropic-beta"]).includes("compact-2026-09-04"))
    return refuse(response, 400, JSON.stringify({ error: { message: "compaction: Extra inputs are not permitted" } }));
  await play(family, turn!, chunkBytes, response, way);
}

/** What a request asks for when it asks for a compaction. */
function wayOf(family: ProviderFamily, path: string, body: { [key: string]: unknown }): NativeWay | undefined {
  if (family === "anthropic") return body.compaction === undefined ? undefined : "summarize";
  if (path.endsWith("/responses/compact")) return "compact";
  const last = Array.isArray(body.input) ? (body.input.at(-1) as { type?: unknown } | undefined) : undefined;
  return last?.type === "compaction_trigger" ? "stream" : undefined;
}

async function play(
  family: ProviderFamily,
  turn: WireTurn,
  chunkBytes: number,
  response: ServerResponse,
  way: NativeWay | undefined,
): Promise<void> {
  const { answer, compaction, fault } = turn;
  const events = way ? spellCompaction(way, compaction ?? {}) : answer ? wireEvents(family, answer) : [];
  if (!fault && way === "compact") return refuse(response, 200, events.join(""));
  if (!fault) return stream(response, Buffer.from(events.join(""), "utf8"), chunkBytes);
  switch (fault.kind) {
    case "cut":
    case "stall":
      return stream(response, Buffer.from(events.join(""), "utf8"), chunkBytes, fault);
    case "error_event":
      events.splice(fault.afterEvents ?? 0, events.length, wireErrorEvent(family));
      return stream(response, Buffer.from(events.join(""), "utf8"), chunkBytes);
    case "malformed":
      events.splice(fault.afterEvents ?? 0, events.length, "data: {not json\n\n");
      return stream(response, Buffer.from(events.join(""), "utf8"), chunkBytes);
    case "error_body":
      return refuse(response, 200, wireRefusal(family, "overloaded").body);
    default: {
      const { status, body } = wireRefusal(family, fault.kind);
      return refuse(response, status, body, fault.headers);
    }
  }
}

/** Writes `all`, or as much as the fault lets through. */
async function stream(
  response: ServerResponse,
  all: Buffer,
  chunkBytes: number,
  fault?: WireFault & { kind: "cut" | "stall" },
): Promise<void> {
  const bytes = fault ? all.subarray(0, fault.atByte) : all;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
  for (let at = 0; at < bytes.length && !response.destroyed; at += chunkBytes) {
    const piece = bytes.subarray(at, at + chunkBytes);
    // Handed over before the next one, so that neither a merge nor a cut swallows it.
    await new Promise((resolve) => response.write(piece, resolve));
  }
  if (fault?.kind === "stall") return;
  if (fault?.kind === "cut") response.destroy();
  else response.end();
}

function refuse(response: ServerResponse, status: number, body: string, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}

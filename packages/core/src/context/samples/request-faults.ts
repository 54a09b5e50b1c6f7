/**
 * Test data: a second, small reading of the request rules, written without looking at any builder. Each fault is one
 * line of text. The full rule sets live in rules/.
 */
import type { ProviderFamily } from "../../rules/violation.ts";
import { LEAK } from "./random-session.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies are judged as untyped JSON on purpose
type Body = any;

/** Everything found wrong with `body`; empty when nothing is. */
export function faultsOf(family: ProviderFamily, body: Body): string[] {
  const text = JSON.stringify(body);
  const faults = [...FAULTS[family](body)];
  if (text.includes(LEAK) || /"entry-|77123456/.test(text)) faults.push("a field of ours reached the body");
  if (/\\u0000|\\ud[89a-f]/i.test(text)) faults.push("NUL or lone surrogate");
  return faults;
}

const FAULTS: Record<ProviderFamily, (body: Body) => string[]> = {
  anthropic: anthropicFaults,
  "openai-responses": responsesFaults,
  "openai-chat": chatFaults,
  google: googleFaults,
};
const ID = /^[a-zA-Z0-9_-]{1,64}$/;

function ids(list: string[], faults: string[]): void {
  if (list.some((id) => !ID.test(id))) faults.push("illegal call id");
  if (new Set(list).size !== list.length) faults.push("repeated call id");
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function alternates(roles: string[], faults: string[]): void {
  if (roles[0] !== "user") faults.push("does not start with the user");
  if (roles.some((role, n) => n > 0 && role === roles[n - 1])) faults.push("two of one role in a row");
}

function anthropicFaults(body: Body): string[] {
  const faults: string[] = [];
  alternates(
    body.messages.map((m: Body) => m.role),
    faults,
  );
  if (body.messages.at(-1).role !== "user") faults.push("ends on the assistant");
  const calls: string[] = [];
  let open: string[] = [];
  for (const { role, content } of body.messages) {
    if (content.length === 0) faults.push("empty message");
    const results = content.filter((b: Body) => b.type === "tool_result");
    if (
      !same(
        open,
        results.map((b: Body) => b.tool_use_id),
      )
    )
      faults.push("calls and results differ");
    if (!same(results, content.slice(0, results.length))) faults.push("a result after other blocks");
    open = content.filter((b: Body) => b.type === "tool_use").map((b: Body) => b.id);
    calls.push(...open);
    const thoughts = content.map((b: Body) => /thinking/.test(b.type));
    if (thoughts.includes(true) && !thoughts[0]) faults.push("thinking not first");
    if (thoughts.at(-1)) faults.push("ends on thinking");
    for (const block of content) {
      if (block.type === "thinking" && !block.signature) faults.push("unsigned thinking");
      if (block.type === "tool_use" && (role !== "assistant" || !isObject(block.input))) faults.push("bad call");
      if (block.type === "tool_use" && !ID.test(block.name)) faults.push("bad tool name");
      const parts = block.type === "tool_result" ? block.content : [block];
      if (parts.length === 0 || parts.some(isBlankText)) faults.push("blank text");
      if (block.is_error && parts.some((p: Body) => p.type !== "text")) faults.push("image in an error result");
    }
  }
  if (open.length > 0) faults.push("open call at the end");
  ids(calls, faults);
  const markers = JSON.stringify(body).match(/"cache_control":/g)?.length ?? 0;
  if (markers > 4) faults.push("more than four markers");
  if (calls.length > 0 && !body.tools) faults.push("calls without tools");
  if (body.system?.some(isBlankText)) faults.push("blank system");
  return faults;
}

function responsesFaults(body: Body): string[] {
  const faults: string[] = [];
  const calls: string[] = [];
  const outputs: string[] = [];
  const items = body.input as Body[];
  items.forEach((item, n) => {
    const next = items[n + 1];
    if (item.type === "reasoning") {
      const own = next?.type === "function_call" || next?.type === "reasoning" || next?.role === "assistant";
      if (!own || !item.encrypted_content) faults.push("reasoning without its item");
    } else if (item.type === "function_call") {
      calls.push(item.call_id);
      if (!isObject(JSON.parse(item.arguments)) || !ID.test(item.name)) faults.push("bad call");
    } else if (item.type === "function_call_output") {
      outputs.push(item.call_id);
      if (!calls.includes(item.call_id) || item.output.length === 0) faults.push("bad output");
    } else if (item.content.length === 0 || item.content.some(isBlankText)) faults.push("blank text");
  });
  if (!same([...calls].sort(), [...outputs].sort())) faults.push("calls and outputs differ");
  ids(calls, faults);
  const itemIds = items.filter((i) => i.id).map((i) => i.id);
  if (new Set(itemIds).size !== itemIds.length) faults.push("repeated item id");
  if (!["user", "developer", undefined].includes(items.at(-1).role) || items.at(-1).type === "function_call")
    faults.push("ends on the assistant");
  if ([...(body.prompt_cache_key ?? "")].length > 64) faults.push("cache key too long");
  return faults;
}

function chatFaults(body: Body): string[] {
  const faults: string[] = [];
  const messages = body.messages.filter((m: Body, n: number) => !(n === 0 && m.role === "system")) as Body[];
  let turns: string[] = [];
  const calls: string[] = [];
  messages.forEach((message, n) => {
    // A result ends the assistant's turn without being the user's.
    if (message.role === "tool") turns = turns.map(() => "-").slice(-1);
    else turns.push(message.role);
    if (turns.length > 1 && turns.at(-1) === turns.at(-2)) faults.push("two of one role in a row");
    const text = message.content;
    if (message.role === "user" && !(typeof text === "string" ? text.trim() : text.length && !text.some(isBlankText)))
      faults.push("blank text");
    if (message.role === "system" || message.role === "developer") faults.push("instructions in mid-conversation");
    const own = (message.tool_calls ?? []).map((c: Body) => c.id);
    if (message.role === "assistant" && own.length === 0 && !text?.trim()) faults.push("empty assistant");
    const answers = messages.slice(n + 1, n + 1 + own.length).map((m) => m.tool_call_id);
    if (!same(own, answers)) faults.push("calls and results differ");
    for (const c of message.tool_calls ?? []) if (!isObject(JSON.parse(c.function.arguments))) faults.push("bad call");
    calls.push(...own);
  });
  if (messages[0]?.role !== "user") faults.push("does not start with the user");
  if (messages.filter((m) => m.role === "tool").length !== calls.length) faults.push("orphan result");
  if (messages.at(-1)?.role === "assistant") faults.push("ends on the assistant");
  ids(calls, faults);
  return faults;
}

function googleFaults(body: Body): string[] {
  const faults: string[] = [];
  alternates(
    body.contents.map((c: Body) => c.role),
    faults,
  );
  if (body.contents.at(-1).role !== "user") faults.push("ends on the model");
  let open: string[] = [];
  for (const { parts } of body.contents) {
    const answers = parts.filter((p: Body) => p.functionResponse).map((p: Body) => p.functionResponse.name);
    if (!same(open, answers)) faults.push("calls and responses differ");
    open = parts.filter((p: Body) => p.functionCall).map((p: Body) => p.functionCall.name);
    if (open.some((name) => !/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name))) faults.push("bad tool name");
    if (parts.length === 0 || parts.some((p: Body) => p.text !== undefined && !p.text.trim()))
      faults.push("blank text");
  }
  return faults;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBlankText(block: Body): boolean {
  return typeof block.text === "string" && block.text.trim() === "";
}

/**
 * Validator for Anthropic Messages bodies (2026). One pass over the body as it would be posted.
 * Must not know how Stet builds requests.
 */
import { isAnthropicToolName, judgeMarker, judgeMessages, judgeText, judgeThinkingLoop } from "./anthropic-messages.ts";
import { AnthropicJudge } from "./anthropic-rules.ts";
import { isIntegerFrom, isNonBlank, isObject, type JsonObject } from "./judge.ts";
import { ANTHROPIC_IMAGES_MAX, ANTHROPIC_MARKERS_MAX } from "./limits.ts";
import type { Violation } from "./violation.ts";

const BODY_FIELDS = new Set(
  [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "temperature",
    "top_p",
    "top_k",
  ].concat(
    ["stop_sequences", "stream", "metadata", "service_tier", "container", "context_management", "mcp_servers"],
    ["compaction", "output_config", "output_format", "cache_control", "inference_geo", "speed"],
  ),
);
const TOOL_FIELDS = new Set(
  ["type", "name", "description", "input_schema", "cache_control", "strict", "eager_input_streaming"].concat([
    "defer_loading",
    "allowed_callers",
    "input_examples",
  ]),
);
const CHOICE_FIELDS = new Set(["type", "name", "disable_parallel_tool_use"]);
const COMPACTION_FIELDS = new Set(["type", "instructions"]);
/** A compaction is no reply, so nothing that shapes one goes with it. */
const REPLY_ONLY_FIELDS = ["context_management", "stop_sequences", "output_format"];
const THINKING_FIELDS = new Set(["type", "budget_tokens", "display"]);

/** What is wrong with `body` as an Anthropic Messages request; empty when nothing is. Never throws. */
export function validateAnthropic(body: unknown): Violation[] {
  const judge = new AnthropicJudge();
  if (!judge.accepts(body)) return judge.violations;
  judge.fields(body, BODY_FIELDS);
  if (!isNonBlank(body.model)) judge.fail("model", "model is not a name", "model");
  if (!isIntegerFrom(body.max_tokens, 1))
    judge.fail("max-tokens", "max_tokens is not a positive integer", "max_tokens");
  const toolNames = judgeTools(judge, body.tools);
  judgeSystem(judge, body.system);
  judgeCompactionRequest(judge, body);
  judgeMessages(judge, body.messages);
  judgeMarker(judge, body);
  if (judge.sawToolBlock && toolNames.size === 0)
    judge.fail("tools-required", "tool blocks in messages, but no tools", "tools");
  if (judge.markers > ANTHROPIC_MARKERS_MAX)
    judge.fail("cache-count", `${judge.markers} cache markers, above ${ANTHROPIC_MARKERS_MAX}`, "");
  if (judge.images > ANTHROPIC_IMAGES_MAX)
    judge.fail("image-count", `${judge.images} images, above ${ANTHROPIC_IMAGES_MAX}`, "messages");
  judgeThinkingConfig(judge, body);
  judgeToolChoice(judge, body, toolNames);
  return judge.violations;
}

function judgeCompactionRequest(judge: AnthropicJudge, body: JsonObject): void {
  const { compaction, tool_choice: choice } = body;
  if (compaction === undefined || compaction === null) return;
  judge.isCompacting = true;
  if (!isObject(compaction)) {
    judge.fail("compaction-request", "compaction is not an object", "compaction");
    return;
  }
  judge.at("compaction", compaction, () => judge.fields(compaction, COMPACTION_FIELDS));
  const { type, instructions } = compaction;
  if (type !== "summarize") judge.fail("compaction-request", "compaction.type is not summarize", "compaction");
  if (instructions !== undefined && instructions !== null && typeof instructions !== "string")
    judge.fail("compaction-request", "compaction.instructions is not text", "compaction");
  for (const field of REPLY_ONLY_FIELDS)
    if (body[field] !== undefined) judge.fail("compaction-request", `${field} beside compaction`, field);
  if (isObject(choice) && (choice.type === "any" || choice.type === "tool"))
    judge.fail("compaction-request", "a tool is forced on a compaction", "tool_choice");
}

function judgeTools(judge: AnthropicJudge, tools: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  if (tools === undefined) return names;
  if (!Array.isArray(tools)) {
    judge.fail("tools", "tools is not a list", "tools");
    return names;
  }
  judge.each("tools", tools, (_, tool) => judgeTool(judge, tool, names));
  return names;
}

function judgeTool(judge: AnthropicJudge, tool: unknown, names: Set<string>): void {
  if (!isObject(tool)) {
    judge.fail("tools", "tool is not an object");
    return;
  }
  const { type, name, input_schema: schema, description } = tool;
  if (!isAnthropicToolName(name)) judge.fail("tool-name", "not a tool name");
  else if (names.has(name)) judge.fail("tool-unique", `tool ${name} is defined twice`);
  else names.add(name);
  judgeMarker(judge, tool);
  // Tools the provider runs itself are typed by version and bring their own fields.
  if (type !== undefined && type !== "custom") {
    if (!isNonBlank(type)) judge.fail("tools", "tool type is not a name");
    return;
  }
  judge.fields(tool, TOOL_FIELDS);
  if (description !== undefined && typeof description !== "string") judge.fail("tools", "description is not text");
  if (!isObject(schema) || schema.type !== "object")
    judge.fail("tool-schema", "input_schema is not a schema of type object");
}

function judgeSystem(judge: AnthropicJudge, system: unknown): void {
  if (system === undefined) return;
  if (typeof system === "string") {
    if (!isNonBlank(system)) judge.fail("system", "system without text", "system");
    return;
  }
  if (!Array.isArray(system) || system.length === 0) {
    judge.fail("system", "system is neither text nor a non-empty list", "system");
    return;
  }
  judge.each("system", system, (_, block) => {
    if (!isObject(block) || block.type !== "text") {
      judge.fail("system", "system block is not text");
      return;
    }
    judgeText(judge, block);
  });
}

function judgeThinkingConfig(judge: AnthropicJudge, body: JsonObject): void {
  const thinking = body.thinking;
  if (thinking === undefined) return;
  const type = isObject(thinking) ? thinking.type : undefined;
  if (!isObject(thinking) || (type !== "enabled" && type !== "adaptive" && type !== "disabled")) {
    judge.fail("thinking-config", "thinking is neither enabled, adaptive nor disabled", "thinking");
    return;
  }
  judge.at("thinking", thinking, () => judge.fields(thinking, THINKING_FIELDS));
  if (type !== "enabled") return;
  const budget = thinking.budget_tokens;
  if (!isIntegerFrom(budget, 1024) || (typeof body.max_tokens === "number" && budget >= body.max_tokens)) {
    judge.fail("thinking-config", "budget_tokens is below 1024, or not below max_tokens", "thinking");
  }
  if (Array.isArray(body.messages)) judgeThinkingLoop(judge, body.messages);
}

function judgeToolChoice(judge: AnthropicJudge, body: JsonObject, toolNames: ReadonlySet<string>): void {
  const choice = body.tool_choice;
  if (choice === undefined) return;
  if (!isObject(choice)) {
    judge.fail("tool-choice", "tool_choice is not an object", "tool_choice");
    return;
  }
  judge.at("tool_choice", choice, () => judge.fields(choice, CHOICE_FIELDS));
  const { type, name } = choice;
  const forces = type === "any" || type === "tool";
  if (!forces && type !== "auto" && type !== "none") judge.fail("tool-choice", "not a kind of choice", "tool_choice");
  if (toolNames.size === 0) judge.fail("tool-choice", "tool_choice without tools", "tool_choice");
  if (type === "tool" && !(typeof name === "string" && toolNames.has(name)))
    judge.fail("tool-choice", "the chosen tool is not defined", "tool_choice");
  if (forces && isObject(body.thinking) && (body.thinking.type === "enabled" || body.thinking.type === "adaptive")) {
    judge.fail("tool-choice", "thinking is on, and a tool is forced", "tool_choice");
  }
}

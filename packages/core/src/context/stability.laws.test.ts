import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import type { Segment } from "../view/view.ts";
import { buildRequest } from "./build.ts";
import {
  type Choices,
  choicesFromList,
  messageNode,
  pick,
  randomAssistant,
  randomGraft,
  randomOther,
  randomResult,
} from "./samples/random-session.ts";
import { FAMILIES, PLAIN_ESTIMATOR, targetOf } from "./samples/targets.ts";
import { NO_RESULT_TEXT } from "./wording.ts";

/** How a walk treats the calls that have no result when a request leaves. */
type Closing = "on record" | "left open";

/** A session growing entry by entry; `requests` are the lengths at which a request left. */
interface Walk {
  nodes: Node[];
  requests: number[];
}

/**
 * Any legal order of entries: results in any order, steering and grafts between them, repeats of answered calls, late
 * results anywhere. `left open` breaks the law on purpose: a call has no result on record when a request leaves, and its
 * real result comes afterwards as if nothing had happened.
 */
function walk(choices: Choices, closing: Closing): Walk {
  const nodes: Node[] = [];
  const requests: number[] = [];
  /** Calls of the current turn without a result. */
  let open: string[] = [];
  /** Calls that were settled by leaving with their failed turn. */
  let dropped: string[] = [];
  let failed = false;
  const older: string[] = [];
  const push = (message: Parameters<typeof messageNode>[0]) => nodes.push(messageNode(message, nodes.length));
  for (let steps = 1 + choices.below(24); steps > 0; steps--) {
    const kind = choices.below(10);
    if (kind < 3 && open.length > 0) {
      const [id] = open.splice(choices.below(open.length), 1);
      push(randomResult(choices, id!, false));
      older.push(id!);
    } else if (kind === 3 && older.length > 0) {
      const id = pick(choices, older);
      // A call dropped with its failed turn is settled too: what comes for it afterwards is late.
      const late = choices.below(2) === 0 || dropped.includes(id);
      if (!late && open.includes(id)) open.splice(open.indexOf(id), 1);
      push(randomResult(choices, id, late));
    } else if (kind < 6) push(randomOther(choices));
    else if (kind === 6) nodes.push(randomGraft(choices, nodes.length));
    else {
      // A request leaves, and an assistant entry follows or not.
      if (closing === "on record") {
        if (failed && choices.below(2)) dropped.push(...open);
        else for (const id of open) push(synthetic(id));
        older.push(...open);
        open = [];
      }
      requests.push(nodes.length);
      if (choices.below(5) > 0) {
        dropped = [];
        const assistant = randomAssistant(choices, open);
        failed = "stopReason" in assistant && (assistant.stopReason === "error" || assistant.stopReason === "aborted");
        push(assistant);
      }
    }
  }
  return { nodes, requests };
}

function synthetic(id: string) {
  const content = [{ type: "text" as const, text: NO_RESULT_TEXT }];
  return { role: "toolResult" as const, toolCallId: id, toolName: "read", content, isError: true, synthetic: true };
}

/** The conversation of a body as (role, block) lines, markers and the placeholder turn aside. */
function flatten(nodes: readonly Node[], family: ProviderFamily): string[] {
  const segments = nodes.map(
    (node, at): Segment => ({ kind: node.type === "message" ? "verbatim" : "graft", node, at }),
  );
  const built = buildRequest({ segments, head: null, revokedAt: new Set() }, targetOf(family), {
    estimator: PLAIN_ESTIMATOR,
  });
  const lines = linesOf(built.body);
  return built.placeholder ? lines.slice(0, -1) : lines;
}

// biome-ignore lint/suspicious/noExplicitAny: read as untyped JSON on purpose
function linesOf(body: any): string[] {
  const lines: string[] = [];
  for (const message of body.messages ?? body.input ?? body.contents) {
    const { role, content, parts, ...rest } = message;
    if (role === "system") continue;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? parts ?? []);
    for (const { cache_control: _, ...block } of blocks) lines.push(JSON.stringify([role, block]));
    if (Object.keys(rest).some((key) => key !== "type" || rest.type !== "message"))
      lines.push(JSON.stringify([role, rest]));
  }
  return lines;
}

function firstBreak({ nodes, requests }: Walk, family: ProviderFamily): string | undefined {
  let earlier: string[] = [];
  for (const length of requests) {
    const lines = flatten(nodes.slice(0, length), family);
    for (let n = 0; n < earlier.length; n++)
      if (earlier[n] !== lines[n]) return `request at ${length}, line ${n}: ${earlier[n]} became ${lines[n]}`;
    earlier = lines;
  }
  return undefined;
}

const entropy = fc.array(fc.nat({ max: 1000 }), { maxLength: 200, size: "max" });

describe("requests only grow at their end (L2b)", () => {
  for (const family of FAMILIES) {
    test(`${family}: entries appended one by one, open calls closed before each request`, () => {
      fc.assert(
        fc.property(entropy, (list) => {
          expect(firstBreak(walk(choicesFromList(list), "on record"), family)).toBeUndefined();
        }),
        { numRuns: 1000 },
      );
    });
    test(`${family}: control: a call left open, its result recorded after the request, is caught`, () => {
      const outcome = fc.check(
        fc.property(entropy, (list) => firstBreak(walk(choicesFromList(list), "left open"), family) === undefined),
        { numRuns: 1000, seed: 7 },
      );
      expect(outcome.failed).toBe(true);
    });
  }
});

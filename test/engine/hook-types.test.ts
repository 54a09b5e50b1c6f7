/** The types extensions are written against. The compiler judges this file; running it only keeps it in the suite. */
import type { CompactionEntry, Message, Node } from "@stet/core";
import type {
  Extension,
  ExtensionApi,
  HookEvent,
  HookName,
  HookResult,
  ObservedName,
  SessionBeforeCompactResult,
} from "@stet/engine";
import { HOOK_POWERS } from "@stet/engine";
import { expect, expectTypeOf, it } from "vitest";

it("events and results have the documented shapes", () => {
  type Before = HookEvent<"session_before_compact">;
  expectTypeOf<Before["preparation"]["messagesToSummarize"]>().toEqualTypeOf<Message[]>();
  expectTypeOf<Before["preparation"]["turnPrefixMessages"]>().toEqualTypeOf<Message[]>();
  expectTypeOf<Before["preparation"]["isSplitTurn"]>().toEqualTypeOf<boolean>();
  expectTypeOf<Before["preparation"]["previousSummary"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Before["preparation"]["fileOps"]>().toEqualTypeOf<{
    read: Set<string>;
    written: Set<string>;
    edited: Set<string>;
  }>();
  expectTypeOf<Before["branchEntries"]>().toEqualTypeOf<Node[]>();
  expectTypeOf<Before["signal"]>().toEqualTypeOf<AbortSignal>();
  expectTypeOf<HookEvent<"session_compact">["compactionEntry"]>().toEqualTypeOf<CompactionEntry>();
  expectTypeOf<HookEvent<"session_before_tree">["preparation"]["userWantsSummary"]>().toEqualTypeOf<boolean>();
  expectTypeOf<HookResult<"session_before_compact">>().toEqualTypeOf<SessionBeforeCompactResult>();
  expectTypeOf<HookResult<"session.compacting">["context"]>().toEqualTypeOf<string[] | undefined>();
  // Who is only told has nothing to say.
  expectTypeOf<HookResult<ObservedName>>().toEqualTypeOf<never>();
});

it("an extension is checked: names, events and results", () => {
  const extension: Extension = (stet) => {
    stet.on("session_before_compact", async ({ preparation }, ctx) => {
      expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
      const summary = await ctx.complete({ model: "p/m", user: stet.serializeConversation([]) });
      const { firstKeptEntryId, tokensBefore } = preparation;
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { any: ["json"] } } };
    });
    stet.on("session_tree", (event) => {
      expectTypeOf(event.newLeafId).toEqualTypeOf<string | null>();
    });
    // @ts-expect-error no such event
    stet.on("session_before_lunch", () => {});
    // @ts-expect-error a decision of another event
    stet.on("session_before_switch", () => ({ summary: { summary: "" } }));
    // @ts-expect-error a summary must be there
    stet.on("session_before_compact", () => ({ compaction: { firstKeptEntryId: "x" } }));
  };
  const names: string[] = [];
  const api = { on: (name: HookName) => names.push(name) } as unknown as ExtensionApi;
  void extension(api);
  expect(names.slice(0, 2)).toEqual(["session_before_compact", "session_tree"]);
  expect(Object.keys(HOOK_POWERS)).toContain("session.compacting");
});

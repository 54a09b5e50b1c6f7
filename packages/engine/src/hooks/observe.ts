/**
 * What extensions are told afterwards: compactions, navigations, switches, and what an agent emits while it works. Nothing
 * told here can change anything. Tells only: `settleHooks` waits. Must not append.
 */
import type { EntryId, Trigger } from "@stet/core";
import type { AgentEvent, Listener } from "../agent/events.ts";
import type { Session } from "../session.ts";
import { reasonOf } from "./compat.ts";
import type { SessionTreeEvent } from "./table.ts";

/** Tells `session_compact`; the entry is readable by then. */
export function observeCompaction(session: Session, entryId: EntryId, trigger: Trigger): void {
  const { hooks } = session.ports;
  const entry = session.suffix.nodes.findLast(({ node }) => node.id === entryId)?.node;
  if (!hooks || entry?.type !== "compaction") return;
  hooks.tell("session_compact", session, () => ({
    type: "session_compact",
    compactionEntry: structuredClone(entry),
    fromExtension: entry.fromHook === true,
    reason: reasonOf(trigger),
    willRetry: trigger === "overflow",
  }));
}

/** Tells `session_tree`, for every navigation. */
export function observeTree(session: Session, oldLeafId: EntryId | null, summaryId?: EntryId): void {
  const node = session.head?.node;
  const summary = node?.type === "branch_summary" && node.id === summaryId ? node : undefined;
  session.ports.hooks?.tell(
    "session_tree",
    session,
    (): SessionTreeEvent => ({
      type: "session_tree",
      newLeafId: node?.id ?? null,
      oldLeafId,
      ...(summary ? { summaryEntry: structuredClone(summary), fromExtension: summary.fromHook === true } : {}),
    }),
  );
}

/** Tells `session_switch`. */
export function observeSwitch(parent: Session, child: Session): void {
  parent.ports.hooks?.tell("session_switch", child, () => ({
    type: "session_switch",
    reason: "handoff",
    previousSessionFile: parent.file,
  }));
}

/** Tells `session_branch`. */
export function observeBranch(parent: Session, child: Session): void {
  parent.ports.hooks?.tell("session_branch", child, () => ({
    type: "session_branch",
    previousSessionFile: parent.file,
  }));
}

/** A listener that also tells extensions what the documents name; `settled` of the hooks waits until they have heard. */
export function observed(session: Session, emit: Listener): Listener {
  const { hooks } = session.ports;
  if (!hooks) return emit;
  return (event) => {
    emit(event);
    tellOf(session, event);
  };
}

function tellOf(session: Session, event: AgentEvent): void {
  const { hooks } = session.ports;
  if (!hooks) return;
  switch (event.type) {
    case "rewrite_start": {
      const { trigger, action } = event;
      const reason = reasonOf(trigger);
      hooks.tell("compaction_start", session, () => ({ type: "compaction_start", reason }));
      if (reason !== "manual")
        hooks.tell("auto_compaction_start", session, () => ({ type: "auto_compaction_start", reason, action }));
      return;
    }
    case "rewrite_end":
      tellEnd(session, event);
      return;
    case "retry": {
      const { attempt, maxAttempts, delayMs, message: errorMessage } = event;
      const facts = { attempt, maxAttempts, delayMs, errorMessage };
      if (event.of === "turn") hooks.tell("auto_retry_start", session, () => ({ type: "auto_retry_start", ...facts }));
      else
        hooks.tell("summarization_retry_scheduled", session, () => ({
          type: "summarization_retry_scheduled",
          ...facts,
        }));
      return;
    }
    case "retry_attempt": {
      const { of } = event;
      if (of !== "turn")
        hooks.tell("summarization_retry_attempt_start", session, () => ({
          type: "summarization_retry_attempt_start",
          source: of,
        }));
      return;
    }
    case "retry_end": {
      const { attempt, message } = event;
      if (event.of === "turn")
        hooks.tell("auto_retry_end", session, () => ({
          type: "auto_retry_end",
          success: message === undefined,
          attempt,
          ...(message === undefined ? {} : { finalError: message }),
        }));
      else hooks.tell("summarization_retry_finished", session, () => ({ type: "summarization_retry_finished" }));
      return;
    }
    default:
      return;
  }
}

function tellEnd(session: Session, event: Extract<AgentEvent, { type: "rewrite_end" }>): void {
  const { trigger, action, outcome, line, result } = event;
  const reason = reasonOf(trigger);
  const facts = {
    ...(result ? { result } : {}),
    aborted: outcome === "cancelled",
    willRetry: reason === "overflow" && outcome === "committed",
    ...(outcome === "failed" || outcome === "stale" ? { errorMessage: line } : {}),
  };
  const { hooks } = session.ports;
  hooks?.tell("compaction_end", session, () => ({ type: "compaction_end", reason, ...facts }));
  if (reason === "manual") return;
  hooks?.tell("auto_compaction_end", session, () => ({
    type: "auto_compaction_end",
    action,
    ...facts,
    ...(outcome === "skipped" ? { skipped: true } : {}),
  }));
}

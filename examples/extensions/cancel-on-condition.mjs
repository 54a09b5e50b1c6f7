/**
 * Cancel on a condition: no compaction while the newest tool result is an error, so that its output stays word for word
 * until it is dealt with. A compaction the user asks for is never cancelled.
 */

/** @type {import("@stet/engine").Extension} */
export default function cancelOnError(stet) {
  stet.on("session_before_compact", ({ reason, branchEntries }) => {
    if (reason === "manual") return undefined;
    const messages = branchEntries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const newest = messages.findLast((message) => message.role === "toolResult");
    return newest?.isError ? { cancel: true } : undefined;
  });
}

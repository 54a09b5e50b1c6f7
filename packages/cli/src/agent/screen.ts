/** What an agent does, as lines on a terminal. Answers go to stdout, everything else to stderr. */
import type { AgentEvent } from "@stet/engine";

const PREVIEW_CHARS = 100;

/** A listener that writes as the agent works; `quiet` keeps the answer only. */
export function screen(options: { quiet: boolean; streams: boolean }): (event: AgentEvent) => void {
  const { stdout, stderr } = process;
  let isMidLine = false;
  const note = (line: string) => {
    if (options.quiet) return;
    if (isMidLine && options.streams) stdout.write("\n");
    isMidLine = false;
    stderr.write(`${line}\n`);
  };
  const show = (event: AgentEvent, isHelper: boolean): void => {
    // What a helper says goes to the agent, not to the user; its tools and troubles are shown.
    const indent = isHelper ? "  | " : "";
    if (isHelper && (event.type === "text" || event.type === "assistant")) return;
    switch (event.type) {
      case "subagent":
        show(event.event, true);
        return;
      case "text":
        if (!options.streams) return;
        stdout.write(event.delta);
        isMidLine = !event.delta.endsWith("\n");
        return;
      case "tool_start":
        note(`${indent}> ${event.name} ${preview(JSON.stringify(event.arguments))}`);
        return;
      case "tool_end":
        note(`${indent}  ${event.isError ? "failed: " : ""}${preview(event.text)}`);
        return;
      case "rewrite_start":
        note(`${indent}-- making room (${event.trigger}) --`);
        return;
      case "rewrite_end":
        note(`${indent}-- ${event.outcome}${event.method ? ` by ${event.method}` : ""}: ${event.line} --`);
        return;
      case "retry":
        note(`${indent}-- ${event.message}; trying again in ${Math.round(event.delayMs / 1000)} s --`);
        return;
      case "warning":
        note(`${indent}warning: ${event.message}`);
        return;
      case "assistant":
        if (options.streams && isMidLine) stdout.write("\n");
        isMidLine = false;
        return;
      default:
        return;
    }
  };
  return (event) => show(event, false);
}

function preview(text: string): string {
  const flat = [...text.replace(/\s+/g, " ").trim()];
  return flat.length > PREVIEW_CHARS ? `${flat.slice(0, PREVIEW_CHARS - 1).join("")}…` : flat.join("");
}

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
  return (event) => {
    switch (event.type) {
      case "text":
        if (!options.streams) return;
        stdout.write(event.delta);
        isMidLine = !event.delta.endsWith("\n");
        return;
      case "tool_start":
        note(`> ${event.name} ${preview(JSON.stringify(event.arguments))}`);
        return;
      case "tool_end":
        note(`  ${event.isError ? "failed: " : ""}${preview(event.text)}`);
        return;
      case "rewrite_start":
        note(`-- making room (${event.trigger}) --`);
        return;
      case "rewrite_end":
        note(`-- ${event.outcome}${event.method ? ` by ${event.method}` : ""}: ${event.line} --`);
        return;
      case "retry":
        note(`-- ${event.message}; trying again in ${Math.round(event.delayMs / 1000)} s --`);
        return;
      case "warning":
        note(`warning: ${event.message}`);
        return;
      case "assistant":
        if (options.streams && isMidLine) stdout.write("\n");
        isMidLine = false;
        return;
      default:
        return;
    }
  };
}

function preview(text: string): string {
  const flat = [...text.replace(/\s+/g, " ").trim()];
  return flat.length > PREVIEW_CHARS ? `${flat.slice(0, PREVIEW_CHARS - 1).join("")}…` : flat.join("");
}

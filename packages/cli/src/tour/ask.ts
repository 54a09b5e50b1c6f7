/** One question on a terminal, with an end when nobody is there. Must not know what is asked. */
import { createInterface } from "node:readline";

/** `away`: no key was pressed, so further questions would meet nobody. */
export type Answer = { kind: "said"; text: string } | { kind: "skipped" } | { kind: "away" } | { kind: "cancelled" };

export interface AskTerminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  /** Milliseconds without a key before the question is given up. */
  patienceMs: number;
}

/**
 * Asks and waits for one line, trimmed; an empty one and the end of input are `skipped`, no key for `patienceMs` is `away`,
 * Ctrl-C is `cancelled`. Leaves the input paused, so that the process can end.
 */
export function ask({ input, output, patienceMs }: AskTerminal, question: string): Promise<Answer> {
  return new Promise((resolve) => {
    const lines = createInterface({ input, output, terminal: true });
    let answer: Answer = { kind: "skipped" };
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const end = (given: Answer) => {
      answer = given;
      lines.close();
    };
    const onKey = () => {
      clearTimeout(timer);
      // The key that ended the question comes by here as well.
      if (isOver) return;
      timer = setTimeout(() => {
        output.write("(skipped)\n");
        end({ kind: "away" });
      }, patienceMs);
    };
    onKey();
    input.on("data", onKey);
    lines.once("line", (line) => {
      const text = line.trim();
      end(text === "" ? { kind: "skipped" } : { kind: "said", text });
    });
    lines.once("SIGINT", () => {
      output.write("\n");
      end({ kind: "cancelled" });
    });
    lines.once("close", () => {
      isOver = true;
      clearTimeout(timer);
      input.off("data", onKey);
      resolve(answer);
    });
    lines.setPrompt(question.slice(question.lastIndexOf("\n") + 1));
    output.write(question.slice(0, question.lastIndexOf("\n") + 1));
    lines.prompt();
  });
}

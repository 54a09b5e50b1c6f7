/** One question on a terminal, given up after ten seconds without a key. */
import { createInterface, emitKeypressEvents } from "node:readline";

const PATIENCE_MS = 10_000;

/** The line typed, trimmed; empty when Enter came at once, or no key for ten seconds. */
export function ask(question: string): Promise<string> {
  const { stdin, stdout } = process;
  return new Promise((resolve) => {
    emitKeypressEvents(stdin);
    const lines = createInterface({ input: stdin, output: stdout });
    let timer: NodeJS.Timeout | undefined;
    let isFinished = false;
    const finish = (answer: string) => {
      isFinished = true;
      clearTimeout(timer);
      stdin.off("keypress", wait);
      // Before the close, which finishes with an empty answer of its own.
      resolve(answer.trim());
      lines.close();
    };
    const wait = () => {
      clearTimeout(timer);
      // The key that ended the line still reaches this listener.
      if (isFinished) return;
      timer = setTimeout(() => {
        stdout.write("\n");
        finish("");
      }, PATIENCE_MS);
    };
    stdin.on("keypress", wait);
    lines.on("close", () => finish(""));
    wait();
    lines.question(question, finish);
  });
}

/** Whether somebody is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !process.env.CI;
}

/**
 * Input of a summariser that is larger than its window, in pieces that each fit; each piece's summary is handed to the
 * next as the previous one. Nothing is left out: a paragraph larger than a piece is cut into several. Pure.
 */
import { clipHead } from "../text/clip.ts";

export interface FoldOptions {
  /** Most tokens of one piece. */
  maxTokens: number;
  /** Must not fall when text is appended. */
  estimate(text: string): number;
}

const SEPARATOR = "\n\n";

/**
 * `paragraphs` joined into pieces of at most `maxTokens`, in order. Empty paragraphs are skipped. A piece is above the
 * limit only where a single character is.
 */
export function foldInput(paragraphs: readonly string[], { maxTokens, estimate }: FoldOptions): string[] {
  const pieces: string[] = [];
  let piece = "";
  const close = () => {
    if (piece !== "") pieces.push(piece);
    piece = "";
  };
  for (const paragraph of paragraphs) {
    if (paragraph === "") continue;
    const joined = piece === "" ? paragraph : piece + SEPARATOR + paragraph;
    if (estimate(joined) <= maxTokens) {
      piece = joined;
      continue;
    }
    close();
    let rest = paragraph;
    while (rest !== "" && estimate(rest) > maxTokens) {
      const head = largestHead(rest, maxTokens, estimate);
      pieces.push(head);
      rest = rest.slice(head.length);
    }
    piece = rest;
  }
  close();
  return pieces;
}

/** The longest beginning within `maxTokens`, ending at a line where one is near; at least one character. */
function largestHead(text: string, maxTokens: number, estimate: (text: string) => number): string {
  let fits = 0;
  let tooMany = text.length;
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (estimate(clipHead(text, middle)) <= maxTokens) fits = middle;
    else tooMany = middle;
  }
  const head = clipHead(text, Math.max(1, fits)) || text.slice(0, 2);
  const line = head.lastIndexOf("\n") + 1;
  return line > head.length / 2 ? head.slice(0, line) : head;
}

/** A LineSource over text in memory, for tests. */
import type { LineSource, RawLine } from "@stet/core";

/** Lines of `text` by byte offset; accepts bytes so that damaged UTF-8 can be tested too. */
export function textSource(text: string | Uint8Array): LineSource {
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : Buffer.from(text);
  const lines: RawLine[] = [];
  const indexByAt = new Map<number, number>();
  let at = 0;
  while (at < bytes.length) {
    const newline = bytes.indexOf(0x0a, at);
    const end = newline < 0 ? bytes.length : newline;
    let content = bytes.toString("utf8", at, end);
    if (at === 0 && content.startsWith("\uFEFF")) content = content.slice(1);
    if (content.endsWith("\r")) content = content.slice(0, -1);
    indexByAt.set(at, lines.length);
    lines.push({ at, bytes: end - at, text: content, terminated: newline >= 0 });
    at = end + 1;
  }
  const firstFrom = (from: number): number => {
    let low = 0;
    let high = lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((lines[middle] as RawLine).at < from) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    sizeBytes: bytes.length,
    lineAt: (offset) => {
      const index = indexByAt.get(offset);
      return index === undefined ? undefined : lines[index];
    },
    lineBefore: (offset) => {
      const index = firstFrom(offset) - 1;
      return index < 0 ? undefined : lines[index];
    },
    *lines(from = 0) {
      for (let i = firstFrom(from); i < lines.length; i++) yield lines[i] as RawLine;
    },
  };
}

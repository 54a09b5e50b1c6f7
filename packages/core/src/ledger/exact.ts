/**
 * Rare exact things: versions, ports, hashes, addresses, ticket numbers. From a user any sentence that names one; from a
 * tool only a line that labels it, and of lines that differ in digits only the newest. Must not judge what they are for.
 */

const LITERAL =
  /https?:\/\/[^\s"'<>)\]]+|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\bv?\d+\.\d+(?:\.\d+)+[\w.-]*|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b|\b[A-Za-z][\w-]{0,60}:\d{2,5}\b|\b[A-Z]{2,10}-\d{2,8}\b|#[0-9a-fA-F]{6}\b|\b\d+(?:\.\d+)?(?:%|ms|s|kb|mb|gb|px)(?!\w)|\b\d{3,}\b/;
const LABEL =
  /\b(?:listening|running|serving|available|local|network|url|port|version|commit|sha\d*|hash|digest|build|release|tag|branch|ticket|request.id|trace.id|deploy\w*)\b/i;
const TOOL_LITERAL =
  /https?:\/\/[^\s"'<>)\]]+|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\bv?\d+\.\d+\.\d+[\w.-]*|\b(?:port\s+|:)\d{2,5}\b/i;

const SENTENCE_CHARS = 300;
const LINE_CHARS = 160;
/** Labels stand at the ends of an output; its middle is listings. */
const END_CHARS = 4000;
const LINES_PER_RESULT = 2;

/** A sentence of words, or of a script without blanks; a line of a terminal has signs and numbers instead. */
const WORDED = /^[\p{L}\p{N}#"'`(].*(?:\p{L}{2,}\P{L}+){2}\p{L}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/u;

/** Whether a user's sentence names an exact value. */
export function namesValue(sentence: string): boolean {
  if (sentence.length > SENTENCE_CHARS || /[?？]\W*$/.test(sentence)) return false;
  return LITERAL.test(sentence) && WORDED.test(sentence);
}

/** Lines of a tool's output that label an exact value, at most two, whole. */
export function exactLines(text: string): string[] {
  const ends = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  if (!LABEL.test(ends)) return [];
  const found: string[] = [];
  for (const raw of ends.split("\n")) {
    const line = raw.trim();
    if (line.length < 8 || line.length > LINE_CHARS || !LABEL.test(line) || !TOOL_LITERAL.test(line)) continue;
    found.push(line);
    if (found.length === LINES_PER_RESULT) break;
  }
  return found;
}

/** Two lines with one template say the same thing at two times. */
export function lineTemplate(line: string): string {
  return line.replace(/[0-9a-f]*\d[0-9a-f]*/gi, "0");
}

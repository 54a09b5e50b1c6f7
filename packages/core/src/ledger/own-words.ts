/**
 * The user's own words in a message: pasted logs, code, diffs, quotations and tagged blocks are left out before anybody
 * looks for orders or decisions. Must not shorten a sentence: a lost "not" or "only in tests" turns it round.
 */

/** A message longer than this is read only at its ends: people put their own words before or after a paste. */
const LONG_MESSAGE_CHARS = 6000;
const END_CHARS = 1500;

const FENCE = /(?:^|\n)[ \t]*(```|~~~)[\s\S]*?(?:\n[ \t]*\1|$)/g;
/** Lines that come from a terminal, a log, a diff, a quotation or code. */
const PASTED =
  /^(?:>|\||\t| {4,}\S|\s*\d+:\s|\s*#\s|➜|❯|[$%]\s|PS [A-Z]:|\w+@[\w.-]+[:\s].*[$#]|[+-]\s?\d+\s|\+\+\+|---|@@|diff --git|at\s+\S+.*[:(]\d+|\/\S+:\d+\s*$|Node\.js v\d|File ".*", line|\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:\w*Error|\w*Exception|Traceback|warning|error|info|debug|npm (?:ERR!|warn|error))\b.*:|import\s|export\s|const\s|let\s|var\s|function\s|def\s|class\s|return\b|if\s*\(|\/\/|\/\*|["{}[\]();])/i;
const DRAWN = /[─-╿█▓░⠀-⣿]|[{};]\s*$|=>|^\S+\s*[:=]\s*["'{[]/;

/** Unclosed tags looked for before the rest is taken as prose; a page of them must not cost a search each. */
const MAX_UNCLOSED = 50;

/** Text outside `<tag>…</tag>`: what harnesses and people wrap is shown to the model, not said to it. */
function withoutTagged(text: string): string {
  const kept: string[] = [];
  let at = 0;
  let unclosed = 0;
  for (const match of text.matchAll(/<([A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?>/g)) {
    if (match.index < at) continue;
    const closing = `</${match[1]}>`;
    const end = text.indexOf(closing, match.index);
    if (end < 0) {
      if (++unclosed > MAX_UNCLOSED) break;
      continue;
    }
    kept.push(text.slice(at, match.index));
    at = end + closing.length;
  }
  return [...kept, text.slice(at)].join("\n\n");
}

/** Paragraphs of own words, list items apart. */
export function prose(text: string): string[] {
  let own = text.replaceAll("\r\n", "\n").replace(FENCE, "\n\n");
  own = withoutTagged(own);
  if (own.length > LONG_MESSAGE_CHARS) {
    // Whole lines only: half a sentence may have lost its negation.
    const head = own.slice(0, own.lastIndexOf("\n", END_CHARS) + 1);
    const tail = own.slice(own.indexOf("\n", own.length - END_CHARS) >>> 0);
    own = `${head}\n\n${tail}`;
  }
  const paragraphs: string[] = [];
  let open = false;
  for (const raw of own.split("\n")) {
    const line = raw.trim();
    if (line === "" || PASTED.test(raw) || DRAWN.test(raw)) {
      open = false;
      continue;
    }
    const isItem = /^(?:[-*•]|\d{1,2}[.)])\s+/.test(line);
    // A sentence may be wrapped: a line goes on when it starts small and the last one did not end.
    if (open && !isItem && /^[a-z(]/.test(line) && !/[.!?:]$/.test(paragraphs.at(-1)!))
      paragraphs[paragraphs.length - 1] += ` ${line}`;
    else paragraphs.push(line);
    open = true;
  }
  return paragraphs;
}

/** Sentences of a paragraph, whole and in order; also those of scripts that end them with a full-width stop. */
export function sentences(paragraph: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const match of paragraph.matchAll(/[.!?]+["')\]]*\s+|[。！？]+[」』）"]*\s*/g)) {
    const end = match.index + match[0].length;
    const before = paragraph.slice(start, match.index);
    if (/(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no)|^\d{1,2})$/i.test(before) && match[0].startsWith(".")) continue;
    found.push(paragraph.slice(start, end).trim());
    start = end;
  }
  found.push(paragraph.slice(start).trim());
  return found.filter((sentence) => sentence !== "");
}

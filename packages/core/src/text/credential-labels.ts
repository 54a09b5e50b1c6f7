/**
 * Credentials that show only by the name in front of them: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`. Judges the name
 * first, then whether what follows is a value and not code, a type, a reference or prose. No entropy measure.
 */
import { isReference, type Span } from "./credential-shapes.ts";

/** How plain a name is: after a `password` nearly anything is one; a `token` is most often a word of a language. */
type Strength = "password" | "secret" | "token";

interface Label {
  strength: Strength;
  /** Where the name begins and ends, `end` exclusive. */
  start: number;
  end: number;
  name: string;
}

const KEYWORD = /passw(?:or)?d|passphrase|passcode|pwd|secret|token|key|credentials?|_auth/gi;
/** What a key must be called to hold a secret. */
const KEY_OF =
  /(?:api|access|account|auth|secret|private|signing|encryption|encrypt|master|app|application|consumer|service|session|storage|webhook|subscription|license|deploy|shared|client|admin|jwt|hmac|master)[-_ ]?key$/i;
/** Tokens that page, cancel or sync hold no authority. */
const TOKEN_OF_OTHER_KIND =
  /(?:next|page|continuation|cancell?ation|sync|prev|start|end|stop|pad|mask|bos|eos|unk|sep|cls|first|last|current|max|min|per|num)[-_]?(?:page[-_]?)?token$/i;
const NAME_BEFORE = /[\w-]{0,48}$/;
const NAME_AFTER =
  /(?:_?\d{1,2}|_(?:prod|dev|test|staging|live|primary|secondary|old|new|base|value|string|id))?(?![\w-])/iy;
/** What stands between a name and its value: `":`, `']=`, `: string =`, `:=`, `=>`, ` is `. Never a line break. */
const ASSIGNMENT =
  /\\*["'`]?\]?[ \t]{0,8}(?::[ \t]{0,4}[A-Za-z][\w.]{0,30}(?:\[\]|\?)?[ \t]{1,4}=(?!=|>)|:=|=>|[:=：＝](?!=)|={2,3})[ \t]{0,40}/y;
const SPOKEN = /[ \t]{1,3}(?:is|was|will be|would be)[ \t]{0,2}:?[ \t]{1,3}/iy;
const FLAG_GAP = /[ \t]{1,4}/y;
const OPENING = /[bru]?(\\*)(["'`“])/y;
const BARE = /[^\s\x00-\x1f"'`,;{}()<>|&\\，。；、）】」』”]{1,8192}/y;
const BARE_LINE = /[^\s\x00-\x1f"'`\\]{1,8192}/y;

const HARMLESS =
  /^(?:none|null|nil|undefined|true|false|yes|no|string|number|boolean|bool|any|unknown|never|object|str|bytes|int|integer|char|text|varchar|required|optional|empty|missing|invalid|valid|expired|hidden|masked|redacted|omitted|disabled|enabled|default|auto|prompt|password|passwd|pwd|pass|secret|token|value|\*+|x+|-+|_+|\.+|n\/a|tbd|todo)$/i;
const INSTRUCTION = /^(?:your|my|the|an?|some|insert|enter|example|placeholder|replace|put|set|add)[-_ ]|[-_ ]here$/i;
const PROSE =
  /\b(?:your|the|a|an|is|are|must|enter|please|for|of|to|in|not|or|and|with|from|password|token|secret|key|invalid|required|see|de|la|le|ihr)\b/i;
const NAMES_A_CREDENTIAL = /passw|token|secret|key|credential|auth|pwd/i;
const MEMBER_ACCESS = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const PLACEHOLDER = "[REDACTED]";
/** Ledger addresses and hex numbers. */
const ADDRESS = /^0x[0-9a-f]{1,64}$/i;
/** The end of a line, of a string around it, or of its colour. */
const LINE_ENDS = /^[ \t]*(?:[\r\n#"'`\x1b]|$|\\+[nr"'])/;
const FIRST_ON_LINE =
  /(?:^|[\n\r]|\\[nr]|\x1b\[[\d;]{0,8}m|[\u3000-\u9fff\uac00-\ud7af\uff00-\uffef])[ \t>+*#-]{0,40}(?:export[ \t]{1,4}|set[ \t]{1,4}|env[ \t]{1,4}|arg[ \t]{1,4})?["'$]?$/i;

/** Spans of all labelled values in `text`, in order. */
export function findLabelled(text: string): Span[] {
  const spans: Span[] = [];
  KEYWORD.lastIndex = 0;
  for (let match = KEYWORD.exec(text); match !== null; match = KEYWORD.exec(text)) {
    const label = labelAt(text, match.index, KEYWORD.lastIndex, match[0]);
    const span = label && valueSpan(text, label);
    if (!span) continue;
    spans.push(span);
    KEYWORD.lastIndex = Math.max(span.end, KEYWORD.lastIndex);
  }
  return spans;
}

/** Whether a JSON key of this name holds a credential whatever its value looks like. */
export function isCredentialName(name: string): boolean {
  KEYWORD.lastIndex = 0;
  for (let match = KEYWORD.exec(name); match !== null; match = KEYWORD.exec(name)) {
    const label = labelAt(name, match.index, match.index + match[0].length, match[0]);
    if (label && label.start === 0 && label.end === name.length) return true;
  }
  return /^(?:authorization|proxy-authorization|cookie|set-cookie)$/i.test(name);
}

function labelAt(text: string, start: number, end: number, keyword: string): Label | undefined {
  NAME_AFTER.lastIndex = end;
  if (!NAME_AFTER.test(text)) return undefined;
  const nameEnd = NAME_AFTER.lastIndex;
  const before = nameBefore(text, start);
  const word = keyword.toLowerCase();
  const name = before + text.slice(start, end);
  const label = { start: start - before.length, end: nameEnd, name };
  if (word === "key") {
    const withSpace = text[start - 1] === " " ? text.slice(Math.max(0, start - 16), end) : name;
    return KEY_OF.test(withSpace) ? { ...label, strength: "secret" } : undefined;
  }
  if (word.startsWith("pass")) return { ...label, strength: "password" };
  if (word === "_auth") return before === "" || /[A-Z]$/.test(before) ? { ...label, strength: "token" } : undefined;
  if (!hasLeftBoundary(before, keyword)) return undefined;
  if (word === "pwd") return { ...label, strength: "password" };
  if (word !== "token") return { ...label, strength: word === "secret" ? "secret" : "token" };
  if (TOKEN_OF_OTHER_KIND.test(name)) return undefined;
  const qualified = /(?:access|refresh|auth|api|bearer|session|secret|bot|personal|id|client|deploy)[-_]?token$/i.test(
    name,
  );
  return { ...label, strength: qualified || /[A-Z]_TOKEN$/.test(name) ? "secret" : "token" };
}

/** The name's part before `start`; the letter of a `\\n` written out, or the end of a colour code, is none of it. */
function nameBefore(text: string, start: number): string {
  const before = NAME_BEFORE.exec(text.slice(Math.max(0, start - 48), start))![0];
  const behind = text[start - before.length - 1];
  if (behind === "\\" && /^[nrt]/.test(before)) return before.slice(1);
  return behind === "[" || behind === ";" ? before.replace(/^\d{1,3}m/, "") : before;
}

/** `db_token`, `dbToken` and the run-together `authtoken` name a token; `nontoken` and `undersecret` do not matter. */
function hasLeftBoundary(before: string, keyword: string): boolean {
  if (before === "" || /[^A-Za-z]$/.test(before)) return true;
  if (/[A-Z]/.test(keyword[0]!)) return /[a-z]$/.test(before) || keyword === keyword.toUpperCase();
  return /(?:auth|access|refresh|api|csrf|xsrf|bot|client|app|my|the|db|user|root|admin)$/i.test(before);
}

function valueSpan(text: string, label: Label): Span | undefined {
  if (text[label.start - 1] === ":" && text[label.end] === ":") return undefined; // a name inside an ARN or a URN
  const isFlag = text.startsWith("--", label.start) || text.startsWith("--", label.start - 2);
  ASSIGNMENT.lastIndex = label.end;
  if (ASSIGNMENT.test(text)) {
    const separator = text.slice(label.end, ASSIGNMENT.lastIndex);
    if (separator.includes("==") && label.strength !== "password") return undefined;
    return spanAt(text, ASSIGNMENT.lastIndex, label, separator);
  }
  if (text[label.start - 1] === "<" && text[label.end] === ">") return elementContent(text, label);
  for (const gap of isFlag ? [FLAG_GAP, SPOKEN] : [SPOKEN]) {
    gap.lastIndex = label.end;
    if (gap.test(text)) return spanAt(text, gap.lastIndex, label, " ");
  }
  return undefined;
}

function elementContent(text: string, label: Label): Span | undefined {
  const start = label.end + 1;
  const end = text.indexOf("<", start);
  if (end < 0 || end - start > 4096 || text[end + 1] !== "/") return undefined;
  return judgeQuoted(text.slice(start, end), label) ? { start, end } : undefined;
}

function spanAt(text: string, at: number, label: Label, separator: string): Span | undefined {
  OPENING.lastIndex = at;
  const opening = OPENING.exec(text);
  if (opening) {
    const start = OPENING.lastIndex;
    const end = closingQuote(text, start, opening[1]!, opening[2]!);
    if (end >= 0) return judgeQuoted(text.slice(start, end), label) ? { start, end } : undefined;
    return bareSpan(text, start, label, separator);
  }
  return bareSpan(text, at, label, separator);
}

/** Index of the closing quote on the same line, or -1. `backslashes` is the run of backslashes the opening quote had. */
function closingQuote(text: string, start: number, backslashes: string, quote: string): number {
  const close = quote === "“" ? "”" : quote;
  const limit = Math.min(text.length, start + 8192);
  for (let i = start; i < limit; i++) {
    const unit = text[i]!;
    if (unit === "\n" || unit === "\r") return -1;
    if (backslashes === "") {
      if (unit === "\\") i++;
      else if (unit === close) return i;
    } else if (unit === "\\" && text.startsWith(backslashes + close, i)) return i;
  }
  return -1;
}

function judgeQuoted(value: string, { strength, name }: Label): boolean {
  if (value.length < 3 || isHarmless(value, name)) return false;
  if (/\s/.test(value.trim())) return strength === "password" && value.length <= 80 && !PROSE.test(value);
  if (strength === "password") return true;
  if (/[(){}]/.test(value)) return false;
  if (!/\d/.test(value) && NAMES_A_CREDENTIAL.test(value)) return false;
  if (strength === "secret") return value.length >= 4;
  if (ADDRESS.test(value)) return false;
  return (
    (value.length >= 8 && /\d/.test(value) && /[A-Za-z]/.test(value)) ||
    (/^[A-Za-z+/=_-]{20,}$/.test(value) && /[a-z][A-Z]/.test(value))
  );
}

function bareSpan(text: string, start: number, label: Label, separator: string): Span | undefined {
  const isVariable = separator === "=" && /^[A-Z][A-Z0-9_]{3,}$/.test(label.name);
  const ownLine = isVariable || startsLine(text, label);
  // What a variable is set to ends at a blank; elsewhere a comma, a bracket or an ampersand may end it.
  const whole = ownLine && separator === "=";
  const pattern = whole ? BARE_LINE : BARE;
  pattern.lastIndex = start;
  const found = pattern.exec(text)?.[0];
  if (found === undefined) return undefined;
  const value = found.replace(separator === " " ? /[.:!?]+$/ : /[.:]+$/, "");
  const rest = text.slice(start + found.length, start + found.length + 8);
  const code = whole ? /^[A-Za-z_][\w.]*[([]/.test(value) : /^[({[]/.test(rest) || /[[(]/.test(value);
  const place = { separator, ownLine: ownLine && LINE_ENDS.test(rest), code };
  return judgeBare(value, label, place) ? { start, end: start + value.length } : undefined;
}

interface Place {
  separator: string;
  /** The name begins its line, or is a variable being set, and nothing follows the value. */
  ownLine: boolean;
  /** The value goes on as a call or an index. */
  code: boolean;
}

function judgeBare(value: string, { strength, name }: Label, { separator, ownLine, code }: Place): boolean {
  if (value.startsWith(PLACEHOLDER)) return value !== PLACEHOLDER;
  if (value.length < 3 || code || isHarmless(value, name)) return false;
  if (/^[-=!~?:.]|^\/(?![A-Za-z0-9+]*\d)/.test(value) || MEMBER_ACCESS.test(value)) return false;
  const digits = value.replace(/\D/g, "").length;
  if (/^[\d.,:_-]+$/.test(value)) return strength === "password" && /^\d{4,}$/.test(value);
  if (separator === " ") return digits > 0 && value.length >= (strength === "password" ? 4 : 8);
  const isName = /^[\w$?]+$/.test(value);
  if (isName && NAMES_A_CREDENTIAL.test(value) && (digits === 0 || strength === "token")) return false;
  const spaced = separator !== "=" && separator.includes("=");
  const plainWord = isName && ownLine && !spaced && value.length >= 4 && !/[a-z][A-Z]|^[A-Z][a-z]/.test(value);
  if (strength === "password") return digits > 0 || /[!@#%^*+=~?$]/.test(value) || (plainWord && !/pwd$/i.test(name));
  if (isName && spaced && (digits < 2 || value.length < 8)) return false;
  if (strength === "token") return value.length >= 8 && digits >= 2 && /[A-Za-z]/.test(value) && !ADDRESS.test(value);
  return value.length >= 6 && (digits > 0 || (plainWord && name === name.toUpperCase()) || /[$&;@!]/.test(value));
}

function isHarmless(value: string, name: string): boolean {
  if (value.includes(PLACEHOLDER)) return value === PLACEHOLDER;
  if (isReference(value) || HARMLESS.test(value) || INSTRUCTION.test(value)) return true;
  if (/pwd$/i.test(name) && /^(?:[~./]|[A-Za-z]:[\\/])/.test(value)) return true;
  return /\$\{|\{\{|<[\w -]{1,40}>|^(?:vault|op|ssm|arn|file|secretsmanager|https?):/i.test(value);
}

function startsLine(text: string, label: Label): boolean {
  return FIRST_ON_LINE.test(text.slice(Math.max(0, label.start - 64), label.start));
}

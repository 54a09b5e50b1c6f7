/**
 * A body as text: its size in bytes, and strings that no provider can read. Must not know any provider, and must not
 * serialise: a body may hold megabytes of images.
 */

/** Deepest nesting judged. Our bound: JSON readers of servers stop somewhere between 100 and 1,000 levels. */
const DEPTH_MAX = 500;

/** One place in a body that cannot be sent as sound JSON text. */
export interface TextFault {
  kind: "string" | "value" | "depth";
  at: string;
  message: string;
}

/**
 * Bytes of `value` as compact UTF-8 JSON, as `JSON.stringify` writes it. NaN when a string holds NUL or a lone surrogate,
 * a value is none JSON has, or nesting is deeper than 500.
 */
export function jsonByteLength(value: unknown): number {
  return measure(value, 0);
}

function measure(value: unknown, depth: number): number {
  if (typeof value === "string") return stringBytes(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : Number.NaN;
  if (typeof value === "boolean") return value ? 4 : 5;
  if (value === null) return 4;
  if (typeof value !== "object" || depth >= DEPTH_MAX) return Number.NaN;
  if (Array.isArray(value)) {
    let bytes = 2 + Math.max(0, value.length - 1);
    for (const item of value) bytes += measure(item, depth + 1);
    return bytes;
  }
  let bytes = 1;
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) bytes += stringBytes(key) + 2 + measure(field, depth + 1);
  }
  return bytes === 1 ? 2 : bytes;
}

function stringBytes(text: string): number {
  let bytes = 2;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      if (unit >= 0x20) bytes += unit === 0x22 || unit === 0x5c ? 2 : 1;
      else if (unit === 0) return Number.NaN;
      else bytes += unit === 8 || unit === 9 || unit === 10 || unit === 12 || unit === 13 ? 2 : 6;
    } else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else {
      const next = text.charCodeAt(++index);
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return Number.NaN;
      bytes += 4;
    }
  }
  return bytes;
}

/** Where and why {@link jsonByteLength} gave NaN; empty when it did not. Stops at the first nesting that is too deep. */
export function locateTextFaults(value: unknown): TextFault[] {
  const faults: TextFault[] = [];
  locate(value, "", 0, faults);
  return faults;
}

function locate(value: unknown, at: string, depth: number, faults: TextFault[]): void {
  if (typeof value === "string") {
    if (Number.isNaN(stringBytes(value)))
      faults.push({ kind: "string", at, message: "text with NUL or a lone surrogate" });
    return;
  }
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return;
  if (typeof value !== "object") {
    faults.push({ kind: "value", at, message: `${typeof value} that JSON cannot carry` });
    return;
  }
  if (depth >= DEPTH_MAX) {
    faults.push({ kind: "depth", at: `${at.slice(0, 80)}…`, message: `nested deeper than ${DEPTH_MAX} levels` });
    return;
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && !tooDeep(faults); index++)
      locate(value[index], `${at}[${index}]`, depth + 1, faults);
    return;
  }
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    const path = at === "" ? key : `${at}.${key}`;
    if (Number.isNaN(stringBytes(key)))
      faults.push({ kind: "string", at: path, message: "name with NUL or a lone surrogate" });
    locate(field, path, depth + 1, faults);
    if (tooDeep(faults)) return;
  }
}

function tooDeep(faults: readonly TextFault[]): boolean {
  return faults.at(-1)?.kind === "depth";
}

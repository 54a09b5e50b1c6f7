/**
 * Changes single fields in the text of a JSON object and leaves every other byte alone: numbers JavaScript cannot hold,
 * spaces, escapes and repeated keys stay as written. Must only be given text that JSON.parse accepts as an object.
 */

interface FieldPlace {
  readonly key: string;
  /** Where the key's quote stands. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** The text of field `key`'s value; of the last one where the key is repeated, as JSON.parse takes it. */
export function fieldText(text: string, key: string): string | undefined {
  const place = placesOf(text).findLast((field) => field.key === key);
  return place && text.slice(place.valueStart, place.end);
}

/** Sets fields to the given JSON text, or removes them (`undefined`). New ones go in front. */
export function withFields(text: string, changes: ReadonlyMap<string, string | undefined>): string {
  let changed = text;
  const added: string[] = [];
  for (const [key, value] of changes) {
    if (value === undefined) changed = withoutField(changed, key);
    else {
      const place = placesOf(changed).findLast((field) => field.key === key);
      if (place) changed = changed.slice(0, place.valueStart) + value + changed.slice(place.end);
      else added.push(`${JSON.stringify(key)}:${value}`);
    }
  }
  if (added.length === 0) return changed;
  const inside = changed.indexOf("{") + 1;
  const comma = placesOf(changed).length > 0 ? "," : "";
  return changed.slice(0, inside) + added.join(",") + comma + changed.slice(inside);
}

function withoutField(text: string, key: string): string {
  let left = text;
  for (;;) {
    const places = placesOf(left);
    const index = places.findIndex((field) => field.key === key);
    if (index < 0) return left;
    const place = places[index] as FieldPlace;
    // With the comma before it, or behind it for the first.
    const start = index === 0 ? place.start : (places[index - 1] as FieldPlace).end;
    const end = index === 0 ? (places[1]?.start ?? place.end) : place.end;
    left = left.slice(0, start) + left.slice(end);
  }
}

function placesOf(text: string): FieldPlace[] {
  const places: FieldPlace[] = [];
  let at = text.indexOf("{") + 1;
  for (;;) {
    const start = text.indexOf('"', at);
    if (start < 0) return places;
    const keyEnd = stringEnd(text, start);
    let valueStart = text.indexOf(":", keyEnd) + 1;
    while (isSpace(text.charCodeAt(valueStart))) valueStart++;
    const end = valueEnd(text, valueStart);
    places.push({ key: JSON.parse(text.slice(start, keyEnd)) as string, start, valueStart, end });
    at = end;
    while (isSpace(text.charCodeAt(at))) at++;
    if (text[at] !== ",") return places;
  }
}

/** Offset behind the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first !== "{" && first !== "[") {
    let at = start;
    while (at < text.length && !",}] \t\r\n".includes(text[at] as string)) at++;
    return at;
  }
  let depth = 0;
  for (let at = start; ; ) {
    const c = text[at];
    if (c === '"') {
      at = stringEnd(text, at);
      continue;
    }
    if (c === "{" || c === "[") depth++;
    else if ((c === "}" || c === "]") && --depth === 0) return at + 1;
    at++;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

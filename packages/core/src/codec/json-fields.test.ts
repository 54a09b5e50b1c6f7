import { describe, expect, it } from "vitest";
import { fieldText, withFields } from "./json-fields.ts";

const set = (text: string, ...changes: [string, string | undefined][]) => withFields(text, new Map(changes));

describe("withFields", () => {
  it("changes one value and no other byte", () => {
    const text = ' { "a" : 12345678901234567890 , "at" : -0, "b":"x\\"}{,", "c":{"at":[1e999]} } ';
    expect(set(text, ["at", "7"])).toBe(text.replace("-0", "7"));
    expect(set(text, ["b", "null"])).toBe(text.replace('"x\\"}{,"', "null"));
    expect(set(text, ["c", "1"])).toBe(text.replace('{"at":[1e999]}', "1"));
  });

  it("adds new fields in front", () => {
    expect(set("{}", ["a", "1"], ["b", "2"])).toBe('{"a":1,"b":2}');
    expect(set('{ "c":3}', ["a", "1"])).toBe('{"a":1, "c":3}');
  });

  it("removes a field wherever it stands, also repeated or with its key escaped", () => {
    expect(set('{"a":1,"b":2,"c":3}', ["a", undefined])).toBe('{"b":2,"c":3}');
    expect(set('{"a":1,"b":2,"c":3}', ["b", undefined])).toBe('{"a":1,"c":3}');
    expect(set('{"a":1,"b":2,"c":3}', ["c", undefined])).toBe('{"a":1,"b":2}');
    expect(set('{"a":1,"\\u0061":2}', ["a", undefined])).toBe("{}");
  });

  it("takes a repeated key as JSON.parse does: the last one counts", () => {
    expect(fieldText('{"a":1,"a":[2]}', "a")).toBe("[2]");
    expect(JSON.parse(set('{"a":1,"a":2}', ["a", "3"]))).toEqual({ a: 3 });
  });
});

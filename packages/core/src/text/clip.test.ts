import { describe, expect, test } from "vitest";
import { clipHead, clipHeadTail, clipTail, clipToTokens, firstLine } from "./clip.ts";
import { estimateTextTokens } from "./tokens.ts";

const hasLoneSurrogate = (text: string): boolean => /[\ud800-\udfff]/u.test(text);

describe("clips", () => {
  const faces = "😀😃😄😁";

  test("never part a surrogate pair, at any length", () => {
    for (let max = 0; max <= faces.length + 1; max++) {
      for (const cut of [
        clipHead(faces, max),
        clipTail(faces, max),
        clipHeadTail(faces, max, (n) => `[${n}]`),
        clipToTokens(faces, max),
      ]) {
        expect(hasLoneSurrogate(cut), `${max}: ${JSON.stringify(cut)}`).toBe(false);
      }
      expect(clipHead(faces, max).length).toBeLessThanOrEqual(max);
      expect(clipTail(faces, max).length).toBeLessThanOrEqual(max);
    }
  });

  test("control: a plain slice does part one", () => {
    expect(hasLoneSurrogate(faces.slice(0, 3))).toBe(true);
  });

  test("clipHeadTail says exactly how much is missing and keeps short text whole", () => {
    const text = "a".repeat(60) + "b".repeat(40);
    const marker = (omitted: number): string => `<${omitted}>`;
    expect(clipHeadTail(text, 100, marker)).toBe(text);
    expect(clipHeadTail(text, 10, marker)).toBe("aaaaaa<90>bbbb");
    expect(clipHeadTail(text, 10, marker, 1)).toBe("aaaaaaaaaa<90>");
    expect(clipHeadTail(text, 0, marker)).toBe("<100>");
  });

  test("firstLine skips blank lines and shows that it cut", () => {
    expect(firstLine("\n  \n  hello world \r\nmore", 40)).toBe("hello world");
    expect(firstLine("hello world", 6)).toBe("hello…");
    expect(firstLine("", 5)).toBe("");
    expect(firstLine("x", 0)).toBe("");
  });

  test("clipToTokens keeps what fits and handles nonsense limits", () => {
    const text = "one two three four five six seven eight nine ten";
    expect(clipToTokens(text, 1000)).toBe(text);
    expect(estimateTextTokens(clipToTokens(text, 4))).toBe(4);
    for (const nonsense of [0, -3, Number.NaN]) expect(clipToTokens(text, nonsense)).toBe("");
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HARMLESS, PHRASE_SAMPLES, WORD_SAMPLES } from "./credential-samples.fixture.ts";
import { hasCredential, REDACTED, redact } from "./redact.ts";

const samples = [...WORD_SAMPLES, ...PHRASE_SAMPLES];
const pieces = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...samples.map((sample) => sample.text)) },
    { weight: 2, arbitrary: fc.constantFrom(...HARMLESS) },
    fc.constantFrom(
      REDACTED,
      "password",
      "token=",
      ": ",
      "=",
      '"',
      "'",
      "\\",
      "\\n",
      "\n",
      " ",
      "://",
      "@",
      ";",
      "-----",
      "sk-",
      "Bearer ",
      "Cookie: a=",
    ),
    fc.string({ maxLength: 8 }),
    fc.string({ unit: "binary", maxLength: 4 }),
  ),
  { maxLength: 12 },
);
const texts = fc.tuple(pieces, fc.constantFrom("", " ", "\n")).map(([parts, joiner]) => parts.join(joiner));
const runs = { numRuns: 1500, verbose: 1 as const };

describe("laws of redaction", () => {
  test("what redact leaves always satisfies the validator, and redacting again changes nothing", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = redact(text);
        if (hasCredential(once.text)) return false;
        const twice = redact(once.text);
        return twice.hits === 0 && twice.text === once.text;
      }),
      runs,
    );
  });

  test("control: a redactor that masks only the first value is caught", () => {
    const lazy = (text: string): string => {
      const clean = redact(text).text;
      const at = clean.indexOf(REDACTED);
      return at < 0 ? text : clean.slice(0, at + REDACTED.length) + text.slice(-Math.max(1, text.length - at));
    };
    const result = fc.check(
      fc.property(texts, (text) => !hasCredential(lazy(text))),
      runs,
    );
    expect(result.failed).toBe(true);
  });

  test("no word credential survives among any neighbours on its own line", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...WORD_SAMPLES), texts, (before, sample, after) => {
        // A copy glued to other letters is no word of its own.
        fc.pre(!before.includes(sample.secret) && !after.includes(sample.secret));
        return !redact(`${before}\n${sample.text}\n${after}`).text.includes(sample.secret);
      }),
      runs,
    );
  });

  test("text without credentials comes back unchanged", () => {
    fc.assert(
      fc.property(texts, (text) => hasCredential(text) || redact(text).text === text),
      runs,
    );
  });
});

describe("work grows no faster than the text", () => {
  const seeds = [
    "sk-",
    "sk-a",
    "-eyJ",
    "eyJa.",
    "a://",
    "://a:",
    "://a:b",
    "password=",
    'password="',
    "password='",
    "password: ",
    "token ",
    '\\"token\\":\\"',
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "BEGIN PRIVATE KEY",
    "Cookie: ",
    "cookie: a=b;",
    "bearer ",
    "Bearer a",
    "basic aaaa",
    "authorization: ",
    "curl -u a",
    "curl ",
    "mysql ",
    "login a ",
    "gAAAAA",
    "[1",
    "[1;",
    "%3",
    "\\n",
    "key",
    "api key ",
    "a-key",
    "M".repeat(24),
    "1".repeat(9),
    "<password>",
    "密码：",
    "AAAA\n",
    "--token ",
    "secret_",
    "_",
    "a",
    " ",
    "=",
    "x".repeat(63).concat("="),
  ]; // prettier-ignore

  test.each(seeds)("a megabyte of %j is done in one go", (seed) => {
    const text = seed.repeat(Math.ceil(1_000_000 / seed.length));
    const { text: clean } = redact(text);
    expect(hasCredential(clean)).toBe(false);
  });
});

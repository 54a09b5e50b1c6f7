import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { HARMLESS, PHRASE_SAMPLES, type Sample, WORD_SAMPLES } from "./credential-samples.fixture.ts";
import { hasCredential, REDACTED, redact, redactDeep } from "./redact.ts";

/** Stands for the sample when only the carrier matters. */
const MARK = "MARK";

type Carrier = (text: string) => string;

const CARRIERS: Record<string, Carrier> = {
  "bare line": (text) => `first line\n${text}\nlast line`,
  "JSON string": (text) => JSON.stringify({ output: `done\n${text}`, ok: true }),
  "JSON in JSON": (text) => JSON.stringify({ body: JSON.stringify({ output: `done\n${text}\n`, ok: true }) }),
  "code fence": (text) => `Run this:\n\n\`\`\`sh\n${text}\n\`\`\`\n`,
  "CJK text": (text) => `请先运行 ${text}\n，谢谢。`,
  "tool log": (text) => `2026-01-01T00:00:00Z \u001b[32m${text}\u001b[0m\n`,
};
const WORD_CARRIERS: Record<string, Carrier> = {
  ...CARRIERS,
  "shell assignment": (text) => `export SERVICE_X="${text}" && run`,
  URL: (text) => `https://example.com/a/${text}?page=1`,
  "encoded URL": (text) => `https://example.com/cb?v%3D${text}`,
  "close CJK text": (text) => `密钥是${text}，请保密`,
};

function expectMasked(sample: Sample, carrier: Carrier): void {
  const text = carrier(sample.text);
  const result = redact(text);
  expect(hasCredential(text)).toBe(true);
  expect(result.text).not.toContain(sample.secret);
  expect(result.text).toContain(REDACTED);
  expect(result.hits).toBeGreaterThan(0);
  expect(hasCredential(result.text), result.text).toBe(false);
  expect(redact(result.text)).toEqual({ text: result.text, hits: 0 });
  const before = carrier(MARK).split(MARK)[0]!;
  expect(result.text.startsWith(before), `kept before: ${result.text}`).toBe(true);
}

describe("redact", () => {
  test("at least 40 shapes are in the table", () => {
    expect(new Set([...WORD_SAMPLES, ...PHRASE_SAMPLES].map((sample) => sample.name)).size).toBeGreaterThanOrEqual(90);
  });

  describe.each(Object.entries(WORD_CARRIERS))("a credential word in %s", (_, carrier) => {
    test.each(WORD_SAMPLES.map((sample) => [sample.name, sample] as const))("%s", (_name, sample) => {
      expectMasked(sample, carrier);
    });
  });

  describe.each(Object.entries(CARRIERS))("a credential by context in %s", (_, carrier) => {
    test.each(PHRASE_SAMPLES.map((sample) => [sample.name, sample] as const))("%s", (_name, sample) => {
      const carried = carrier(MARK).includes("\\n");
      const secret = carried ? JSON.stringify(sample.secret).slice(1, -1) : sample.secret;
      expectMasked({ ...sample, secret }, carrier);
    });
  });

  test("JSON stays JSON", () => {
    for (const sample of [...WORD_SAMPLES, ...PHRASE_SAMPLES]) {
      for (const carrier of [CARRIERS["JSON string"]!, CARRIERS["JSON in JSON"]!]) {
        const { text } = redact(carrier(sample.text));
        expect(() => JSON.parse(text), `${sample.name}: ${text}`).not.toThrow();
      }
    }
  });

  test("label and quotes stay", () => {
    expect(redact('"password": "hunter2",').text).toBe('"password": "[REDACTED]",');
    expect(redact("DB_PASSWORD=hunter2 # local").text).toBe("DB_PASSWORD=[REDACTED] # local");
    expect(redact("postgres://app:pw@host/db").text).toBe("postgres://app:[REDACTED]@host/db");
    expect(redact("Authorization: Basic dXNlcjpodW50ZXIyMQ==").text).toBe("Authorization: Basic [REDACTED]");
    expect(redact("a=1; Cookie: sid=abcdef123; theme=dark1").text).toBe(
      "a=1; Cookie: sid=[REDACTED]; theme=[REDACTED]",
    );
  });

  test("text appended to a placeholder is taken with it", () => {
    expect(redact("password=[REDACTED]-x9").text).toBe("password=[REDACTED]");
    expect(redact("password=[REDACTED]").hits).toBe(0);
  });

  test("a key block cut off at either end is masked as far as its lines go", () => {
    const block = PHRASE_SAMPLES.find((sample) => sample.name === "PEM, RSA")!.text;
    for (const cut of [block.slice(0, 120), block.slice(-120), block.slice(0, 120).replaceAll("\n", "\\n")]) {
      const { text } = redact(`before\n${cut}`);
      expect(text).toBe(`before\n${REDACTED}`);
    }
  });

  test.each(HARMLESS)("%j is left alone", (line) => {
    expect(redact(line)).toEqual({ text: line, hits: 0 });
  });
});

describe("redactDeep", () => {
  test("masks string leaves, and whatever stands under a name that says credential", () => {
    expect(
      redactDeep({
        command: "curl -u joe:hunter2 https://example.com",
        env: { DB_PASSWORD: "x", githubToken: "y", HOME: "/home/joe" },
        password: 12345,
        secrets: ["DB_PASSWORD=swordfish"],
        apiKey: ["a", { note: "kept", token: "t" }],
        authorization: "anything",
        maxTokens: 5,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it stands in a file
        token: "${TOKEN}",
        secret: "",
        ok: [true, null, 1],
      }),
    ).toEqual({
      command: "curl -u joe:[REDACTED] https://example.com",
      env: { DB_PASSWORD: REDACTED, githubToken: REDACTED, HOME: "/home/joe" },
      password: REDACTED,
      secrets: ["DB_PASSWORD=[REDACTED]"],
      apiKey: [REDACTED, { note: "kept", token: REDACTED }],
      authorization: REDACTED,
      maxTokens: 5,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it stands in a file
      token: "${TOKEN}",
      secret: "",
      ok: [true, null, 1],
    });
  });

  test("a key named __proto__ stays data", () => {
    const value = JSON.parse('{"__proto__": {"password": "hunter2"}}');
    expect(JSON.stringify(redactDeep(value))).toBe('{"__proto__":{"password":"[REDACTED]"}}');
  });
});

/** Share of lines a redaction changes over real files; these hold hardly any credential. */
function changedShare(files: string[]): { share: number; lines: number } {
  let lines = 0;
  let changed = 0;
  for (const file of files) {
    for (const line of readFileSync(file, "utf8").slice(0, 1_500_000).split("\n")) {
      lines++;
      if (redact(line).hits > 0) changed++;
    }
  }
  return { share: changed / lines, lines };
}

function filesUnder(folder: string, wanted: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => wanted.test(name))
    .sort()
    .map((name) => join(folder, name))
    .filter((name) => statSync(name).isFile());
}

describe("false redactions stay under one line in a thousand", () => {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const data = process.env.STET_DATA ?? join(root, "../shared/data");

  test.skipIf(!existsSync(data))(`in real sessions (skipped without ${"STET_DATA"})`, () => {
    const { share } = changedShare(filesUnder(data, /\.(?:jsonl|traj)$/));
    expect(share).toBeLessThan(0.001);
  });

  test("in the sources and type declarations of the tools we build with", () => {
    const files = ["typescript/lib", "vitest/dist", "fast-check/lib", "@types/node"]
      .flatMap((name) => filesUnder(join(root, "node_modules", name), /\.(?:d\.ts|js)$/))
      .filter((_, index) => index % 4 === 0);
    const { share, lines } = changedShare(files);
    expect(lines).toBeGreaterThan(10_000);
    expect(share).toBeLessThan(0.001);
  });
});

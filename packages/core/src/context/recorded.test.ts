import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Message } from "../message.ts";
import { buildRequest } from "./build.ts";
import { faultsOf } from "./samples/request-faults.ts";
import { FAMILIES, PLAIN_ESTIMATOR, targetOf } from "./samples/targets.ts";
import { viewOf } from "./samples/views.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const file = resolve(process.env.STET_DATA ?? resolve(root, "../shared/data"), "pi/long-refactor.jsonl");
if (!existsSync(file)) console.warn("skipped: no recorded sessions; set STET_DATA to their folder");

describe.skipIf(!existsSync(file))("a recorded session of 800 messages", () => {
  const messages = (): Message[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.startsWith('{"type":"message"'))
      .map((line) => JSON.parse(line).message);
  const target = (family: (typeof FAMILIES)[number]) =>
    targetOf(family, { tools: [], ...(family === "anthropic" ? { model: "claude-sonnet-4-5" } : {}) });

  test.each([...FAMILIES])("%s: legal at 40 points, and whole at its end", (family) => {
    const all = messages();
    for (let length = 1; length <= all.length; length += Math.ceil(all.length / 40)) {
      const { body } = buildRequest(viewOf(...all.slice(0, length)), target(family), { estimator: PLAIN_ESTIMATOR });
      expect(faultsOf(family, body)).toEqual([]);
    }
    const { messages: shown } = buildRequest(viewOf(...all), target(family), { estimator: PLAIN_ESTIMATOR });
    const users = all.filter((message) => message.role === "user").length;
    expect(shown.filter(({ role, origin }) => role === "user" && origin === "entry")).toHaveLength(users);
  });
});

/** A session file of 50 KB cut at an offset, whichever: what was complete is all there, and the next request is legal. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildRequest, isStetError, type LineSource, validateRequest } from "@stet/core";
import { ESTIMATOR, frameFor, Session } from "@stet/engine";
import { ChunkReader, LineFile } from "@stet/storage";
import { expect, it } from "vitest";
import { testPorts } from "./harness.ts";

const shipped = fileURLToPath(new URL("../../examples/sessions/invoice.jsonl", import.meta.url));
const bytes = readFileSync(shipped).subarray(0, 50_000);
/** Odd, so that the short run meets every place within a line in time. */
const STEP = process.env.STET_LONG ? 1 : 397;
const headerEnd = bytes.indexOf(10);

function sourceOf(data: Buffer): LineSource {
  return new LineFile(
    new ChunkReader((into, at) => data.copy(into, 0, at, Math.min(data.length, at + into.length))),
    data.length,
  );
}

/** Ids of the complete lines of `data`, marks left out. */
function completeIds(data: Buffer): string[] {
  const lines = data.toString("utf8").split("\n");
  const last = lines.pop() ?? "";
  const isWhole = last !== "" && isJson(last);
  return [...lines.slice(1), ...(isWhole ? [last] : [])].flatMap((line) => {
    const entry = JSON.parse(line);
    return ["message", "model_change", "compaction"].includes(entry.type) ? [entry.id] : [];
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it(`every ${STEP === 1 ? "" : `${STEP}th `}offset`, () => {
  const ports = testPorts();
  for (let cut = headerEnd + 1; cut <= bytes.length; cut += STEP) {
    const data = bytes.subarray(0, cut);
    const session = new Session(ports, {
      file: "cut.jsonl",
      kind: "pi",
      source: sourceOf(data),
      isNative: true,
      skipped: [],
    });
    expect(
      session.suffix.nodes.map(({ node }) => node.id),
      `cut at ${cut}`,
    ).toEqual(completeIds(data));
    const { body } = buildRequest(
      session.view,
      { family: "anthropic", frame: frameFor(session) },
      { estimator: ESTIMATOR },
    );
    expect(validateRequest("anthropic", body), `cut at ${cut}`).toEqual([]);
  }
});

it("inside the header: refused with a clear error, or opened without it", () => {
  for (let cut = 0; cut <= headerEnd; cut++) {
    try {
      const data = bytes.subarray(0, cut);
      new Session(testPorts(), { file: "cut.jsonl", kind: "pi", source: sourceOf(data), isNative: true, skipped: [] });
    } catch (error) {
      expect(isStetError(error), `cut at ${cut}`).toBe(true);
    }
  }
});

/**
 * Damaged files, whatever the damage: bytes flipped, lines lost, doubled, swapped, cut, joined. Each opens or is refused
 * with a clear error; what opens gives legal requests for every family, takes a compaction, and gives it back.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildRequest, isStetError, PROVIDER_FAMILIES, validateRequest, verifyLog } from "@stet/core";
import { checkSession, ESTIMATOR, frameFor, undo } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { compact, requestOf, testFolder } from "./harness.ts";

const { folder, open } = testFolder();
const shipped = fileURLToPath(new URL("../../examples/sessions/invoice.jsonl", import.meta.url));
const lines = readFileSync(shipped, "utf8").trimEnd().split("\n").slice(0, 60);
const CASES = process.env.STET_LONG ? 2000 : 25;

/** `text` with one to six random damages. */
function damaged(rng: Rng): Buffer {
  const rows = [...lines];
  const pick = () => rng.int(rows.length);
  for (let n = 1 + rng.int(6); n > 0; n--) {
    const at = pick();
    const row = rows[at] ?? "";
    switch (rng.int(9)) {
      case 0:
        rows.splice(at, 1);
        break;
      case 1:
        rows.splice(pick(), 0, row);
        break;
      case 2:
        rows[at] = rows[pick()] ?? "";
        break;
      case 3:
        rows[at] = row.slice(0, rng.int(row.length + 1));
        break;
      case 4:
        rows[at] = row + (rows[at + 1] ?? "");
        break;
      case 5:
        rows[at] = row.replace(/"parentId":"[^"]*"/, `"parentId":"${rng.chance(0.5) ? "gone" : at}"`);
        break;
      case 6:
        rows[at] = row.replace(/"(role|type|content|id|toolCallId)":/, `"x$1":`);
        break;
      case 7:
        rows[at] = row
          .replace(/"content":\[/, `"content":${rng.chance(0.5) ? "null,[" : "["}`)
          .replace("null,[", 'null,"y":[');
        break;
      default:
        rows[at] = row.replace(/"(id|content|message|arguments|name|text)":("[^"]*"|\[|\{)/, '"$1":7,"z":$2');
    }
  }
  const bytes = Buffer.from(`${rows.join("\n")}${rng.chance(0.8) ? "\n" : ""}`);
  for (let n = rng.int(4); n > 0; n--) bytes[rng.int(bytes.length)] = rng.int(256);
  return bytes;
}

describe("damaged files", () => {
  it(`${CASES} of them: opened or clearly refused, legal, compacted, restored`, async () => {
    let opened = 0;
    for (let seed = 1; seed <= CASES; seed++) {
      const rng = new Rng(seed);
      const bytes = damaged(rng);
      const file = join(folder, "damaged.jsonl");
      const out = join(folder, `copy-${seed}.jsonl`);
      writeFileSync(file, bytes);
      try {
        const session = await open(file);
        verifyLog(session.source, file, session.ports.digest);
        checkSession(session);
        for (const family of PROVIDER_FAMILIES) {
          const { body } = buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR });
          expect(validateRequest(family, body), `seed ${seed}, ${family}`).toEqual([]);
        }
        const before = requestOf(session);
        await session.makeOwn({ out });
        expect(requestOf(session), `seed ${seed}: the copy shows the same`).toBe(before);
        if ((await compact(session, 8000, 500)).outcome === "committed") {
          await undo(session, { window: 1_000_000, prepareToWrite: async () => {} });
          expect(requestOf(session), `seed ${seed}: undo gives the request back`).toBe(before);
        }
        opened++;
        await session.close();
      } catch (error) {
        if (!isStetError(error)) throw new Error(`seed ${seed}`, { cause: error });
        expect(error.code).toMatch(/^(?:input|store)\//);
      }
      expect(Buffer.compare(readFileSync(file), bytes), `seed ${seed}: the source is as it was`).toBe(0);
    }
    expect(opened).toBeGreaterThan(CASES / 2);
  }, 600_000);
});

/**
 * Whatever is typed into a conversation at whatever instant, idle, in a turn or while a command runs, is said or done exactly
 * once or still waits; no request breaks a rule, and every file that comes of it verifies.
 */
import { verifyLog } from "@stet/core";
import { waitingOf } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { expect, it } from "vitest";
import { sessionFiles } from "../../packages/cli/src/session-folder.ts";
import { Talk, wordsOf } from "./talk.ts";

const [WALKS, STEPS] = process.env.STET_LONG ? [300, 60] : [8, 25];

/** Types a random script, sometimes waiting for the prompt and sometimes not; gives what is wrong with what came of it. */
async function problemOf(name: string, seed: number, typesTwice = false): Promise<string | undefined> {
  const rng = new Rng(seed);
  const known = new Set(sessionFiles());
  let isHolding = false;
  let release = () => {};
  const talk = await Talk.start(`${name}-${seed}`, (n) => {
    if (!isHolding || rng.chance(0.5)) return `answer ${n}`;
    return new Promise((resolve) => {
      release = () => resolve(`answer ${n}`);
    });
  });
  const { ids } = await talk.seen();
  const words: string[] = [];
  const labels: string[] = [];
  const script: string[] = [];
  const next = (n: number): string => {
    const entry = ids[rng.int(ids.length)];
    const pick = rng.int(16);
    if (pick <= 5) {
      words.push(`w${n}.`);
      return `w${n}.`;
    }
    if (pick <= 7) {
      labels.push(`l${n}`);
      return `/label ${entry} l${n}`;
    }
    if (pick === 8) return `/goto ${entry}`;
    if (pick === 9) return `/goto ${entry} --summarize`;
    return ["/undo", "/redo", `/fork ${entry}`, "/clone", "/handoff", "/compact"][pick - 10] as string;
  };
  for (let n = 0; n < STEPS; n++) {
    isHolding = rng.chance(0.4);
    const line = next(n);
    script.push(line);
    talk.send(`${line}\n`);
    if (typesTwice && line.startsWith("w")) talk.send(`${line}\n`);
    if (rng.chance(0.5)) continue;
    isHolding = false;
    release();
    await talk.until("stet> ");
  }
  isHolding = false;
  release();
  await talk.end();
  const files = [talk.file, ...sessionFiles().filter((file) => !known.has(file))];
  return whatIsWrong(talk, files, words, labels).then(
    (wrong) => wrong && `seed ${seed}: ${script.join(" | ")}: ${wrong}`,
  );
}

async function whatIsWrong(
  talk: Talk,
  files: readonly string[],
  words: readonly string[],
  labels: readonly string[],
): Promise<string | undefined> {
  /** Where each word was said or waits: ids, since copies keep them. */
  const found = new Map<string, Set<string>>(words.map((word) => [word, new Set()]));
  for (const file of files) {
    const { session } = await talk.seen(file);
    const problems = verifyLog(session.source, file, session.ports.digest);
    if (problems.length > 0) return `${file}: ${problems[0]?.message}`;
    const waiting = waitingOf(session);
    for (const { queueId, text } of waiting) found.get(text)?.add(queueId);
    const marks: string[] = [];
    for (const { entry } of session.tree().entries()) {
      if (entry.type === "message" && entry.message.role === "user")
        found.get(wordsOf(entry.message.content))?.add(entry.id);
      if (entry.type === "label" && entry.label !== undefined) marks.push(entry.label);
    }
    const twice = labels.find((label) => marks.filter((mark) => mark === label).length > 1);
    if (twice) return `${file}: ${twice} was done twice`;
    const both = waiting.find(({ text }) => marks.some((mark) => text.endsWith(` ${mark}`)));
    if (both) return `${file}: ${both.text} is done and waits`;
  }
  const wrong = [...found].find(([, places]) => places.size !== 1);
  return wrong && `${wrong[0]} stands in ${wrong[1].size} places`;
}

it(`${WALKS} conversations of ${STEPS} lines`, async () => {
  for (let seed = 1; seed <= WALKS; seed++) expect(await problemOf("walk", seed)).toBeUndefined();
}, 1_200_000);

it("control: words that are typed twice are found", async () => {
  expect(await problemOf("control", 1, true)).toMatch(/stands in 2 places/);
});

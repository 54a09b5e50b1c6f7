/** The adapter's rule as a law: sequential, the last result that says something wins, a cancel ends the round. */
import { type HookFailure, Hooks } from "@stet/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { testFolder } from "./harness.ts";

const { create } = testFolder();

/** What one handler does. */
type Deed = "silent" | "empty" | "says" | "cancels" | "throws" | "rejects" | "hangs" | "nonsense" | "null";
const deeds = fc.array(
  fc.constantFrom<Deed>("silent", "empty", "says", "cancels", "throws", "rejects", "hangs", "nonsense", "null"),
  { maxLength: 8 },
);
const FAULTS: readonly Deed[] = ["throws", "rejects", "hangs", "nonsense"];

/** What should come of `all`: who is asked, who wins, who is reported. */
function expected(all: readonly Deed[]) {
  const end = all.indexOf("cancels");
  const asked = end < 0 ? all : all.slice(0, end + 1);
  const winner = end >= 0 ? end : asked.lastIndexOf("says");
  return {
    asked: asked.map((_, i) => i),
    winner: winner < 0 ? undefined : `h${winner}`,
    reported: asked.flatMap((deed, i) => (FAULTS.includes(deed) ? [`h${i}`] : [])),
  };
}

const ACTS: { [D in Deed]: (i: number) => unknown } = {
  silent: () => undefined,
  empty: () => ({ cancel: undefined }),
  says: (i) => ({ label: `${i}` }),
  cancels: () => ({ cancel: true }),
  throws: () => {
    throw new Error("no");
  },
  rejects: () => Promise.reject(new Error("no")),
  hangs: () => new Promise(() => {}),
  nonsense: () => "yes",
  null: () => null,
};

/** Time is up as soon as nothing else can happen: a macrotask later. */
const waitATurn = (_ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setImmediate(resolve);
    signal.addEventListener("abort", () => {
      clearImmediate(timer);
      resolve();
    });
  });

async function observedOf(all: readonly Deed[], Adapter = Hooks) {
  const session = await create(`law-${serial++}`);
  const failures: HookFailure[] = [];
  const hooks = new Adapter({ timeoutMs: 5, wait: waitATurn, report: (failure) => failures.push(failure) });
  const asked: number[] = [];
  all.forEach((deed, i) => {
    hooks.on(
      "session_before_tree",
      () => {
        asked.push(i);
        return ACTS[deed](i) as never;
      },
      `h${i}`,
    );
  });
  const answer = await hooks.ask("session_before_tree", session, new AbortController().signal, (signal) => ({
    type: "session_before_tree",
    preparation: {
      targetId: "t",
      oldLeafId: null,
      commonAncestorId: null,
      entriesToSummarize: [],
      userWantsSummary: false,
    },
    signal,
  }));
  await session.close();
  return { asked, winner: answer?.source, reported: failures.map(({ extensionPath }) => extensionPath) };
}
let serial = 0;

test("for any handlers", async () => {
  await fc.assert(
    fc.asyncProperty(deeds, async (all) => {
      expect(await observedOf(all)).toEqual(expected(all));
    }),
    { numRuns: 150 },
  );
});

/** Planted: only the first handler is ever asked. */
class FirstOnly extends Hooks {
  override on: Hooks["on"] = (name, handler, source) => {
    if (!this.has(name)) super.on(name, handler, source);
  };
}

test("control: an adapter that only asks the first handler is found", async () => {
  const all: Deed[] = ["says", "silent", "says"];
  expect(await observedOf(all, FirstOnly)).not.toEqual(expected(all));
});

/*
 * Grows one session round by round through the engine, on a store in memory: facts among filler, then a rewrite whose note
 * may take a given share of the context it stands for. Real: appends, plans, notes, requests. Simulated: the words.
 */
import { buildRequest } from "@stet/core";
import { ESTIMATOR, frameFor, rewrite, Session } from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { LOCAL, ports } from "../make-session.mjs";
import { fact, TYPES, word } from "./facts.mjs";
import { RECORDED, turn } from "./filler.mjs";

/** Tokens the kept end of a session may take. */
export const KEPT = 2000;
const ROUND_TOKENS = 20_000;
/** Types with a bar on them are planted more often, so that their intervals are narrow. */
const OFTEN = ["constraint", "preference", "decision"];
const STATES = ["pending", "in_progress", "completed"];

/** Numbers in [0, 1) that depend on the seed alone. */
export function random(seed) {
  let state = (seed * 2654435761) >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

const entry = (message) => ({ type: "message", fields: { message } });
let serial = 0;

/** Messages of one planted step. */
function messagesOf(step) {
  if (step.kind === "user")
    return [
      { role: "user", content: step.text },
      { role: "assistant", content: [{ type: "text", text: "Understood." }], stopReason: "stop" },
    ];
  const id = `f${serial++}`;
  return [
    {
      role: "assistant",
      content: [{ type: "toolCall", id, name: step.name, arguments: step.args }],
      stopReason: "toolUse",
    },
    {
      role: "toolResult",
      toolCallId: id,
      toolName: step.name,
      content: [{ type: "text", text: step.output }],
      isError: (step.exit ?? 0) !== 0,
    },
  ];
}

async function emptySession() {
  const store = new MemoryStore();
  const p = { ...ports(), store };
  const header = {
    type: "session",
    version: 3,
    writer: "stet/1",
    id: "retention",
    timestamp: p.clock.now(),
    cwd: "/p",
  };
  await (await store.create("r.jsonl", [JSON.stringify(header)])).close();
  const source = (await store.open("r.jsonl", { write: false })).source();
  const session = new Session(p, { file: "r.jsonl", kind: "pi", source, isNative: true, skipped: [] });
  await session.makeOwn(undefined);
  return session;
}

/** What the next request says, all its blocks as text, and how many tokens it takes. */
export function requestOf(session) {
  const target = { family: "anthropic", frame: frameFor(session) };
  const built = buildRequest(session.view, target, { estimator: ESTIMATOR });
  const text = built.messages
    .flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block))))
    .join("\n");
  return { text, tokens: built.tokens };
}

/** Facts of one round: their number follows the density, their types a shuffled row. */
function plan(next, set, count, counters) {
  const row = [...TYPES, ...OFTEN];
  return Array.from({ length: count }, () => {
    counters.bag ??= [];
    if (counters.bag.length === 0) counters.bag = row.map((type) => [next(), type]).sort((a, b) => a[0] - b[0]);
    const type = counters.bag.pop()[1];
    counters[type] = (counters[type] ?? Math.floor(next() * 60)) + 1;
    return fact(type, next, set, counters[type]);
  });
}

/** The sentence of a chain that holds now becomes what is needed; the ones before it are stale. */
function advance(one) {
  const step = one.later.shift();
  one.spoken = (one.spoken ?? 0) + 1;
  return step;
}

function versions(one) {
  const all = [...one.stale, one.needs[0]];
  const now = one.spoken ?? 0;
  return { needs: [all[now]], stale: all.slice(0, now) };
}

/**
 * Grows a session through `rounds` rewrites. After each, `measure` gets `{round, session, facts, messages, noteTokens,
 * note}`: all facts planted so far with the state that holds now, the messages of this round, the budget and the note.
 */
export async function grow({ seed, set, filler, rounds, budget, density }, measure) {
  const next = random(seed);
  const session = await emptySession();
  const facts = [];
  const counters = {};
  const names = Array.from({ length: 5 }, () => `finish the ${word(next)} page`);
  let at = Math.floor(next() * RECORDED.length);
  for (let round = 1; round <= rounds; round++) {
    const planted = plan(next, set, Math.round((density * ROUND_TOKENS) / 1000), counters);
    const steps = [
      ...facts.filter((one) => one.later?.length > 0).map((one) => [advance(one)]),
      ...planted.map((one) => one.steps),
    ];
    const todos = names.map((content, i) => ({ content, status: STATES[Math.min(2, Math.max(0, round - 2 * i))] }));
    steps.splice(Math.floor(next() * (steps.length + 1)), 0, [
      { kind: "tool", name: "todo", args: { todos }, output: "ok" },
    ]);
    for (const one of planted) facts.push({ ...one, round, ...(one.later ? { later: [...one.later] } : {}) });
    const messages = [];
    let size = 0;
    while (size < ROUND_TOKENS * 3.4 || steps.length > 0) {
      if (steps.length > 0 && (size >= ROUND_TOKENS * 3.4 || next() < 0.6))
        messages.push(...steps.splice(Math.floor(next() * steps.length), 1)[0].flatMap(messagesOf));
      else {
        const work = filler === "recorded" ? RECORDED[at++ % RECORDED.length] : turn(serial++, next);
        messages.push(...work);
        size += JSON.stringify(work).length;
      }
    }
    // The end of a round is work, so that what was planted stands behind the note and not in the kept end.
    for (let i = 0; i < 2; i++) messages.push(...turn(serial++, next));
    await session.append(messages.map(entry));
    const before = requestOf(session).tokens;
    const noteTokens = Math.floor(budget * before);
    const outcome = await rewrite(session, {
      trigger: "manual",
      writer: LOCAL,
      window: 1_000_000,
      keepRecentTokens: KEPT,
      noteTokens,
      prepareToWrite: async () => {},
    });
    if (outcome.outcome !== "committed")
      throw new Error(`round ${round} was not compacted: ${JSON.stringify(outcome)}`);
    const now = [
      ...facts.map((one) => (one.later ? { ...one, ...versions(one) } : one)),
      ...todos.map((todo) => ({ type: "todo", round, needs: [todo.content], status: todo.status, cue: todo.content })),
    ];
    await measure({ round, session, facts: now, messages, noteTokens, note: outcome.rewrite.summary });
  }
  return session;
}

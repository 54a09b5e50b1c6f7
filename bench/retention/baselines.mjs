/*
 * What stays of a session by other means, at the same number of tokens as the note and the kept tail together. Each arm
 * sees the rounds one after another, as it would in use, and gives the text of its next request. No model is called: the
 * prose summary is a ranked extract, which stands for what a model that keeps no slots may keep.
 */
import { estimateTextTokens } from "@stet/core";

const cut = (text, tokens) => Math.max(0, Math.floor((text.length / Math.max(1, estimateTextTokens(text))) * tokens));

function blockText(message, resultChars) {
  if (typeof message.content === "string") return message.content;
  const text = message.content
    .map((block) =>
      block.type === "toolCall" ? `${block.name} ${JSON.stringify(block.arguments)}` : (block.text ?? ""),
    )
    .join("\n");
  return message.role === "toolResult" ? text.slice(0, resultChars) : text;
}

const line = (message, resultChars = Number.POSITIVE_INFINITY) =>
  `[${message.role}]: ${blockText(message, resultChars)}`;

/** The newest text that fits. */
function truncation() {
  const said = [];
  return (messages, tokens) => {
    said.push(...messages.map((message) => line(message)));
    const text = said.join("\n");
    return text.slice(-cut(text, tokens));
  };
}

/** The newest ten tool results stay, older ones are blanked; then the newest text that fits. */
function masking() {
  const all = [];
  return (messages, tokens) => {
    all.push(...messages);
    const results = all.flatMap((message, index) => (message.role === "toolResult" ? [index] : []));
    const shown = new Set(results.slice(-10));
    const text = all
      .map((message, index) =>
        message.role === "toolResult" && !shown.has(index) ? "[toolResult]: [omitted]" : line(message),
      )
      .join("\n");
    return text.slice(-cut(text, tokens));
  };
}

const sentencesOf = (text) =>
  text
    .split(/\n+|(?<=[.!?。！？])\s*(?=\S)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 12 && sentence.length < 400);

/**
 * pi's pipeline with a summary that keeps only prose: conversation serialised (results cut at 2,000 characters), the earlier
 * summary summarised again with it, sentences ranked by the weight of their words, file lists kept by code as pi does.
 */
function prose() {
  let summary = [];
  const read = new Set();
  const modified = new Set();
  return (messages, tokens) => {
    for (const message of messages)
      for (const block of Array.isArray(message.content) ? message.content : [])
        if (block.type === "toolCall" && block.arguments?.path)
          (block.name === "read" ? read : modified).add(block.arguments.path);
    const fresh = messages
      .filter((message) => message.role !== "toolResult")
      .flatMap((message) =>
        sentencesOf(
          typeof message.content === "string"
            ? message.content
            : message.content.map((block) => block.text ?? "").join("\n"),
        ),
      );
    const pool = [...new Set([...summary, ...fresh])];
    const words = pool.map((sentence) => new Set(sentence.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []));
    const seen = new Map();
    for (const set of words) for (const word of set) seen.set(word, (seen.get(word) ?? 0) + 1);
    // Sentences made of the session's own frequent words come first: what a summary is usually about.
    const score = words.map(
      (set) => [...set].reduce((sum, word) => sum + Math.log(1 + seen.get(word)), 0) / Math.sqrt(set.size || 1),
    );
    const order = pool.map((_, index) => index).sort((a, b) => score[b] - score[a] || a - b);
    const files = `<read-files>\n${[...read].join("\n")}\n</read-files>\n<modified-files>\n${[...modified].join("\n")}\n</modified-files>`;
    const kept = new Set();
    let left = tokens - estimateTextTokens(files);
    for (const index of order) {
      left -= estimateTextTokens(pool[index]) + 1;
      if (left < 0) break;
      kept.add(index);
    }
    summary = pool.filter((_, index) => kept.has(index));
    return `${summary.join("\n")}\n${files}`;
  };
}

/** Every user message whole, newest first until the budget is spent, and nothing else: what some agents keep beside a summary. */
function userMessages() {
  const said = [];
  return (messages, tokens) => {
    said.push(...messages.filter((message) => message.role === "user").map((message) => line(message)));
    const text = said.join("\n");
    return text.slice(-cut(text, tokens));
  };
}

/** Makers of the arms by name; each made once per session. */
export const BASELINES = { truncation, masking, prose, "user messages": userMessages };

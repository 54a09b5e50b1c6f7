/*
 * The state of one fact, decided from the text of a request and, where it is not there, by literal search of the log.
 * DIRECT: there, whole. DEGRADED: its values are there, its sentence is not. STALE: an older value is there without the
 * new one. RECALLABLE: a handle in the text, or literal search by one word within five hits, leads to the entry. LOST: none.
 */

const SYMBOL = { completed: "[x]", in_progress: "(in progress)", pending: "[ ]" };

/** State of `fact` in `text`; `session` is searched where the text does not hold it. */
export function stateOf(fact, text, session) {
  const there = inText(fact, text);
  if (there !== undefined) return there;
  return isRecallable(fact, text, session) ? "RECALLABLE" : "LOST";
}

function inText(fact, text) {
  if (fact.type === "todo") return todoState(fact, text);
  if (fact.type === "command") {
    const lines = text.split("\n").filter((line) => line.includes(fact.needs[0]));
    if (lines.length === 0) return undefined;
    return text.includes(`exit code ${fact.needs[1]}`) || lines.some((line) => line.includes(`exit ${fact.needs[1]}`))
      ? "DIRECT"
      : "DEGRADED";
  }
  const found = fact.needs.filter(
    (need) => text.includes(need) || (fact.type.startsWith("path") && namesPath(text, need)),
  );
  const isWhole = found.length === fact.needs.length;
  if (isWhole && (fact.sentence === undefined || text.includes(fact.sentence))) return "DIRECT";
  if (fact.stale?.some((old) => text.includes(old))) return "STALE";
  return isWhole || (fact.parts && found.length > 0) ? "DEGRADED" : undefined;
}

function todoState(fact, text) {
  const line = text.split("\n").findLast((one) => one.includes(fact.needs[0]));
  if (line === undefined) return undefined;
  // In a raw call the item stands in JSON with its state beside it.
  const raw = line.slice(line.lastIndexOf(fact.needs[0]), line.lastIndexOf(fact.needs[0]) + fact.needs[0].length + 40);
  const isOver =
    (line.includes("[ ]") && fact.status === "pending" && !line.includes("(in progress)")) ||
    (fact.status !== "pending" && line.includes(SYMBOL[fact.status]));
  return isOver || raw.includes(`"status":"${fact.status}"`) ? "DIRECT" : "STALE";
}

/** Whether a file is named by folder and name: "changed in src/a/: b.ts", or in the tree of files. */
function namesPath(text, path) {
  const slash = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, slash + 1), path.slice(slash + 1)];
  if (text.split("\n").some((line) => line.includes(` ${folder}: `) && line.includes(name))) return true;
  const folders = [];
  for (const line of (/<files>\n([\s\S]*?)\n<\/files>/.exec(text)?.[1] ?? "").split("\n")) {
    const [, depth, label] = /^(#+) (.+)$/.exec(line) ?? [];
    if (depth) folders.splice(depth.length - 1, folders.length, label);
    else if (line.startsWith(`${name} (`) && folders.join("") === folder) return true;
  }
  return false;
}

function isRecallable(fact, text, session) {
  const holds = (entry) => {
    const words = JSON.stringify(entry.message);
    return fact.needs.some((need) => words.includes(JSON.stringify(need).slice(1, -1)));
  };
  const messages = [...session.tree().entries()].map(({ entry }) => entry).filter((entry) => entry.type === "message");
  const handles = new Set([...text.matchAll(/\[#([^\]\s]+)\]/g)].map((match) => match[1]));
  if (messages.some((entry) => handles.has(entry.id) && holds(entry))) return true;
  const hits = messages.reverse().filter((entry) => JSON.stringify(entry.message).includes(fact.cue));
  return hits.slice(0, 5).some(holds);
}

/** The part of a note in which a sentence counts as an order or as a decision of the user: outside every data block. */
export function ownWords(note, heading) {
  const section = new RegExp(`(?:^|\\n)## ${heading}\\n([\\s\\S]*?)(?=\\n## |$)`).exec(note)?.[1] ?? "";
  return section.replace(/<data[\s\S]*?<\/data>/g, "");
}

/** Whether `value` stands anywhere in the note outside a block that marks it as data of the session. */
export function isOutsideData(note, value) {
  return note.replace(/<data source="session">\n[\s\S]*?\n<\/data>/g, "").includes(value);
}

/** Wilson interval, 95 %. */
export function wilson(hits, n) {
  if (n === 0) return [0, 1];
  const z = 1.96;
  const p = hits / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

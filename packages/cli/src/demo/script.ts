/**
 * What the demo's model says and does: module after module of a small text library, each written, read back and really
 * run. Scripted words; the tools, files and outputs are real.
 */
import type { Json } from "@stet/core";
import type { ScriptedTurn } from "@stet/providers";

/** One request of the demo's user, and the turns that answer it. */
export interface Chapter {
  prompt: string;
  turns: ScriptedTurn[];
}

const RULES = [
  "From now on never add a dependency; node built-ins only.",
  "Every module must export exactly one function.",
  "I prefer plain loops to clever one-liners.",
];
const VERBS = ["reverse", "count", "trim", "join", "split", "pad", "wrap", "fold", "rank", "group"];
const NOUNS = ["words", "lines", "marks", "names", "dates"];
const MODULES_PER_CHAPTER = 9;
const CHAPTERS = 5;
/** Lines of the log the model keeps reading: what fills windows in real life. */
const LOG_LINES = 120;

const call = (name: string, args: { [key: string]: Json }) => ({ name, arguments: args });
const act = (text: string, ...calls: ReturnType<typeof call>[]): ScriptedTurn => ({ text, calls });

/** The rules said in the first request, which must still stand at the end. */
export const DEMO_RULES = RULES;

/** The whole demo, the same every time. */
export function chapters(): Chapter[] {
  const all: Chapter[] = [];
  for (let chapter = 0; chapter < CHAPTERS; chapter++) {
    const turns: ScriptedTurn[] = [];
    if (chapter === 0)
      turns.push(
        act(
          "I set the project up.",
          call("write", { path: "package.json", content: '{ "name": "texts", "type": "module" }\n' }),
        ),
      );
    for (let i = 0; i < MODULES_PER_CHAPTER; i++) turns.push(...moduleTurns(chapter * MODULES_PER_CHAPTER + i));
    turns.push(todoTurn(chapter));
    turns.push({ text: `Chapter ${chapter + 1} is done: ${MODULES_PER_CHAPTER} modules written and run.` });
    all.push({ prompt: promptOf(chapter), turns });
  }
  return all;
}

function promptOf(chapter: number): string {
  if (chapter === 0)
    return `We build a small text library. ${RULES.join(" ")} Begin with the first ${MODULES_PER_CHAPTER} modules.`;
  return `Good. Go on with the next ${MODULES_PER_CHAPTER} modules, chapter ${chapter + 1}.`;
}

function moduleTurns(n: number): ScriptedTurn[] {
  const name = `${VERBS[n % VERBS.length]}-${NOUNS[Math.floor(n / VERBS.length) % NOUNS.length]}`;
  const fn = name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const path = `src/${name}.js`;
  const source = `/** Works on the text line by line; module ${n}. */\nexport function ${fn}(text) {\n  const out = [];\n  for (const line of text.split('\\n')) out.push(\`${n}:\${line.length}:\${line}\`);\n  return out.join('\\n');\n}\n`;
  const run = `node --input-type=module -e "import { ${fn} } from './${path}'; console.log(${fn}(Array.from({ length: ${LOG_LINES} }, (_, i) => 'entry ' + (i * ${n + 7}) % 997 + ' of ${name}').join('\\n')))"`;
  return [
    act(`Next is ${name}.`, call("write", { path, content: source })),
    act("I read it back and run it on a longer text.", call("read", { path }), call("bash", { command: run })),
    act(
      "Its output is long, so I look for one place in it.",
      call("grep", { pattern: fn, path: "src" }),
      call("bash", { command: `${run} | tail -n 40` }),
    ),
    ...(n % 5 === 4
      ? [
          act(
            "A call that must fail shows what a wrong name does.",
            call("bash", {
              command: `node -e "import('./src/${name}-missing.js').catch((e) => { console.error('Error: ' + e.code); process.exit(1) })"`,
            }),
          ),
        ]
      : []),
  ];
}

function todoTurn(chapter: number): ScriptedTurn {
  const todos = Array.from({ length: CHAPTERS }, (_, i) => ({
    content: `chapter ${i + 1}`,
    status: i <= chapter ? "completed" : i === chapter + 1 ? "in_progress" : "pending",
  }));
  return act("I bring the list up to date.", call("todo", { todos }));
}

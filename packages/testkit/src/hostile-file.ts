/**
 * Session files nobody would write on purpose, byte by byte from one seed: repeats, lying hints, foreign versions, broken
 * UTF-8, ids with escapes. Where random-session.ts shows what users meet, this shows what a reader must survive.
 */
import type { Json } from "@stet/core";
import { Rng } from "./rng.ts";

type Line = { [key: string]: Json };

/** Ids that meet often, and ids made to trip a reader. */
const IDS = [
  "a",
  "b",
  "c",
  "d",
  "e",
  "f",
  "g",
  "a/b",
  "é😀",
  "__proto__",
  "constructor",
  'q"\\',
  "two\nlines",
  "\ud800",
];

/** Bytes of one hostile file. The same seed gives the same bytes. */
export function hostileFile(seed: number): Uint8Array {
  const file = new HostileFile(new Rng(seed));
  file.opening();
  for (let lines = 2 + file.rng.int(50); lines > 0; lines--) file.line();
  return file.bytes();
}

class HostileFile {
  readonly rng: Rng;
  readonly #chunks: Buffer[] = [];
  readonly #starts: number[] = [];
  /** Ids as a reader will know them, with their offsets. */
  readonly #known: { id: string; at: number; type: string }[] = [];
  readonly #texts: string[] = [];
  #size = 0;
  #fresh = 0;
  #version = 3;

  constructor(rng: Rng) {
    this.rng = rng;
  }

  bytes(): Uint8Array {
    const all = Buffer.concat(this.#chunks);
    if (all.length < 4 || this.rng.chance(0.8)) return all;
    // Without its last newline, or cut anywhere in the last line.
    const last = this.#starts.at(-1) as number;
    return all.subarray(0, this.rng.chance(0.5) ? all.length - 1 : last + this.rng.int(all.length - last));
  }

  opening(): void {
    const { rng } = this;
    if (rng.chance(0.1)) this.#chunk(Buffer.from("\uFEFF"));
    if (rng.chance(0.1)) this.#write(JSON.stringify({ type: "title", v: 1, title: "a title", pad: "   " }));
    if (rng.chance(0.06)) this.#junk();
    if (rng.chance(0.06)) this.line();
    this.#version = rng.pick([3, 3, 3, 3, 2, 1]);
    if (rng.chance(0.06)) {
      this.#write(
        JSON.stringify({ type: "message", id: "a", parentId: null, message: { role: "user", content: "x" } }),
      );
    } else this.#header();
  }

  line(): void {
    const { rng } = this;
    if (rng.chance(0.08)) this.#junk();
    else if (rng.chance(0.02)) this.#header();
    else if (rng.chance(0.06) && this.#texts.length > 0) this.#repeat();
    else this.#entry();
  }

  #header(): void {
    const { rng } = this;
    const header: Line = { type: "session", id: `s${rng.int(9)}`, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" };
    if (this.#version > 1 || rng.chance(0.3)) header.version = this.#version;
    if (rng.chance(0.5)) header.writer = rng.chance(0.9) ? "stet/1" : 7;
    if (rng.chance(0.1)) header.title = rng.chance(0.5) ? "named" : [1];
    this.#write(JSON.stringify(header));
  }

  #junk(): void {
    const { rng } = this;
    const junk: (string | Buffer)[] = [
      ...'null|[1,2]|12|true|"text"|{}|{"type":5}|{"type":"message","id":"cut|\0\0\0\0| | \t |not json'.split("|"),
      Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0xff, 0x22]),
      Buffer.from([0xf0, 0x9f, 0x98]),
      "",
      "\r",
    ];
    const pick = rng.pick(junk);
    if (typeof pick === "string") this.#write(pick);
    else {
      this.#startLine();
      this.#chunk(Buffer.concat([pick, Buffer.from("\n")]));
    }
  }

  /** An earlier entry line once more, or with one letter of its text changed. */
  #repeat(): void {
    const text = this.rng.pick(this.#texts);
    this.#write(this.rng.chance(0.5) ? text : text.replace("hello", "other"));
  }

  #entry(): void {
    const { rng } = this;
    const type = rng.weighted({
      message: 40,
      custom: 4,
      custom_message: 4,
      branch_summary: 4,
      compaction: 16,
      elision: 8,
      restore: 10,
      head: 6,
      label: 4,
      torn: 2,
      request_frame: 2,
      model_change: 2,
      reset_boundary: 2,
      martian: 4,
      constructor: 1,
    });
    const line: Line = { type };
    const id = this.#newId();
    if (id !== undefined) line.id = id;
    this.#parent(line);
    line.timestamp = rng.chance(0.9) ? "2026-01-01T00:00:00.000Z" : rng.int(9);
    this.#body(line, type);
    const text = this.#encode(line);
    this.#known.push({
      id: typeof id === "string" && id !== "" ? id : `v${this.#size.toString(36)}`,
      at: this.#size,
      type,
    });
    this.#texts.push(text);
    this.#write(text);
  }

  #newId(): Json | undefined {
    const { rng } = this;
    if (rng.chance(this.#version === 1 ? 0.6 : 0.04)) return rng.pick([undefined, undefined, "", null, 7]);
    if (rng.chance(0.3)) return rng.pick(IDS);
    if (rng.chance(0.03) && this.#starts.length > 0) return `v${rng.pick(this.#starts).toString(36)}`;
    return `n${this.#fresh++}`;
  }

  /** An id some line carries, most often a near one; sometimes one that none does, or that comes later. */
  #someId(): string {
    const { rng } = this;
    if (this.#known.length === 0 || rng.chance(0.04)) return rng.pick([...IDS, `n${this.#fresh + 3}`, "", "nowhere"]);
    const near = this.#known.slice(-6);
    return rng.pick(rng.chance(0.6) ? near : this.#known).id;
  }

  #parent(line: Line): void {
    const { rng } = this;
    const last = this.#known.at(-1);
    if (rng.chance(this.#version === 1 ? 0.7 : 0.02)) {
      if (rng.chance(0.1)) line.parentId = rng.pick([7, [], {}] as Json[]);
      return;
    }
    if (last === undefined || rng.chance(0.02)) line.parentId = null;
    else if (rng.chance(0.6)) line.parentId = last.id;
    else if (rng.chance(0.5)) line.parentId = this.#someId();
    else {
      const parent = rng.pick(this.#known);
      line.parentId = parent.id;
      line.parentAt = parent.at;
    }
    if (rng.chance(0.08)) line.parentAt = this.#offset();
    if (rng.chance(0.01)) line.parentAt = rng.pick(["7", -1, 1.5, null, 1e300] as Json[]);
  }

  #offset(): number {
    const { rng } = this;
    if (this.#starts.length === 0 || rng.chance(0.2)) return rng.int(this.#size + 400);
    return rng.pick(this.#starts);
  }

  #body(line: Line, type: string): void {
    const { rng } = this;
    if (type === "message") line.message = this.#message();
    else if (type === "custom_message") Object.assign(line, { customType: "x", content: "hello custom" });
    else if (type === "branch_summary") {
      Object.assign(line, { summary: "hello branch", fromId: this.#someId() });
      if (rng.chance(0.5))
        line.replacement = rng.pick([
          { placement: "graft", from: null, through: null },
          { placement: "graft" },
          5,
        ] as Json[]);
    } else if (type === "compaction") this.#compaction(line);
    else if (type === "elision") line.replacements = Array.from({ length: 1 + rng.int(3) }, () => this.#stub());
    else if (type === "restore") {
      const rewrites = this.#known.filter((k) =>
        ["compaction", "elision", "restore", "branch_summary"].includes(k.type),
      );
      line.revokes = Array.from({ length: 1 + rng.int(2) }, () =>
        rewrites.length > 0 && rng.chance(0.8) ? rng.pick(rewrites).id : this.#someId(),
      );
      if (rng.chance(0.03)) line.revokes = rng.pick([null, "a", [1, null]] as Json[]);
    } else if (type === "label") Object.assign(line, { targetId: this.#someId(), label: "hello" });
    else if (type === "torn") Object.assign(line, { at: this.#offset(), bytes: 3, hash: "00" });
    else if (type === "martian") line.big = 7;
    else if (type === "reset_boundary") line.keptRuns = "x";
  }

  #message(): Json {
    const { rng } = this;
    if (rng.chance(0.03))
      return rng.pick([null, 5, { role: "martian" }, { role: "assistant", content: null }] as Json[]);
    if (rng.chance(0.2))
      return {
        role: "assistant",
        content: [
          { type: "text", text: "hello answer" },
          { type: "text", text: "more" },
        ],
      };
    if (rng.chance(0.06)) return { role: "hookMessage", customType: "hook", content: "hello hook", display: true };
    return { role: "user", content: [{ type: "text", text: `hello ${this.#someId()}` }] };
  }

  #compaction(line: Line): void {
    const { rng } = this;
    Object.assign(line, { summary: rng.chance(0.1) ? "" : "hello note", tokensBefore: 1 });
    if (this.#version === 1 && rng.chance(0.8)) {
      line.firstKeptEntryIndex = rng.int(this.#starts.length + 4) - 1;
      if (rng.chance(0.1)) line.firstKeptEntryId = null;
    } else line.firstKeptEntryId = rng.chance(0.1) ? (line.id ?? "own") : this.#someId();
    if (rng.chance(0.45)) line.replacement = { placement: "prefix", through: rng.chance(0.05) ? null : this.#someId() };
    if (rng.chance(0.03))
      line.replacement = rng.pick([
        5,
        { placement: "prefix" },
        { placement: "stub", entry: "a", content: [] },
      ] as Json[]);
    if (rng.chance(0.3)) line.chain = rng.chance(0.9) ? { at: this.#offset(), hash: "00" } : true;
    if (rng.chance(0.3)) {
      line.keptRuns = Array.from({ length: 1 + rng.int(3) }, () => [this.#offset(), rng.int(600)]);
      if (rng.chance(0.05)) line.keptRuns = rng.pick(["x", [5], [[1]], [["1", 2]]] as Json[]);
    }
    if (rng.chance(0.2)) line.previous = rng.chance(0.9) ? { id: this.#someId(), at: this.#offset() } : "x";
    if (rng.chance(0.1))
      line.checkpoint = rng.pick([{ path: { frameAt: this.#offset() }, file: {} }, { path: null }, "x"] as Json[]);
  }

  #stub(): Json {
    const { rng } = this;
    if (rng.chance(0.05))
      return rng.pick([
        null,
        5,
        { placement: "stub" },
        { placement: "stub", entry: "a", block: -1, content: [] },
      ] as Json[]);
    const stub: Line = { placement: "stub", entry: this.#someId(), content: [{ type: "text", text: "stub" }] };
    if (rng.chance(0.5)) stub.block = rng.int(3);
    if (stub.block !== undefined && rng.chance(0.6)) stub.span = [rng.int(9), rng.int(9) + rng.int(2) * 100];
    return stub;
  }

  /** JSON with what other writers do to it: escapes, spaces, numbers JavaScript cannot hold, fields given twice. */
  #encode(line: Line): string {
    const { rng } = this;
    let text = JSON.stringify(line);
    if (rng.chance(0.1))
      text = text.replace(/"(id|parentId)":"([a-z])/g, (_, key, c) => `"${key}":"\\u00${c.charCodeAt(0).toString(16)}`);
    if (rng.chance(0.1)) text = text.replaceAll("/", "\\/");
    if (rng.chance(0.1)) text = text.replace(/^\{/, "  { ").replaceAll(/,"(\w+)":/g, ' , "$1" : ');
    if (rng.chance(0.1))
      text = text.replace('"big":7', '"big":12345678901234567890,"z":-0,"inf":1e999,"__proto__":{"x":1}');
    if (rng.chance(0.05)) text = text.replace(/\}$/, `,"extra":[12345678901234567890,-0,1.50,"\\u0041"]}`);
    if (rng.chance(0.03)) text = text.replace(/\}$/, ',"parentAt":3}');
    if (rng.chance(0.03)) text = text.replace(/^\s*\{/, '{"timestamp":"first",');
    return text;
  }

  #write(text: string): void {
    this.#startLine();
    this.#chunk(
      Buffer.from(`${text}${this.rng.chance(0.05) ? "\r" : ""}${this.rng.chance(0.01) ? "\r" : ""}\n`, "utf8"),
    );
  }

  #startLine(): void {
    // A byte order mark belongs to the first line.
    this.#starts.push(this.#starts.length === 0 ? 0 : this.#size);
  }

  #chunk(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
  }
}

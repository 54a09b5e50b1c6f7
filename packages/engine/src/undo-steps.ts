/**
 * What can be taken back and what can be made again, read from the lines of a session in the order they were written: the
 * two stacks of undo and redo. The log is their only state. Must not append anything.
 */
import type { CompactionEntry, ElisionEntry, Entry, EntryId, HandedOffMark, PathNode, SessionTree } from "@stet/core";

/** One thing a user or an agent did to a session's shape. Stubs written with a note are taken back by the same line as the note. */
export type Step =
  | { kind: "rewrite"; node: CompactionEntry | ElisionEntry; at: number }
  /** `lines`: what it wrote; `back`: where the head stood before the first of them. */
  | { kind: "navigation"; lines: EntryId[]; back: PathNode | null }
  | { kind: "handoff"; mark: HandedOffMark };

/** Steps that were taken back by one line, and where the head stood before it. */
export interface TakenBack {
  by: EntryId;
  steps: Step[];
  back: PathNode | null;
}

/** Both stacks, the newest last. A new step ends what could be made again. */
export interface Steps {
  past: Step[];
  future: TakenBack[];
}

/** The stacks of a whole file. A line that moves no head, as copies hold them, is no navigation. */
export function stepsOf(tree: SessionTree): Steps {
  const reader = new StepReader(tree);
  for (const { entry, at } of tree.entries()) reader.read(entry, at);
  return reader.steps;
}

class StepReader {
  readonly steps: Steps = { past: [], future: [] };
  readonly #heads: readonly (PathNode | null)[];
  readonly #parents: readonly number[];
  #row = -1;
  /** The line before, where it was a navigation by a note's copy: a summary may belong to it. */
  #carried: EntryId | undefined;

  constructor(tree: SessionTree) {
    this.#heads = tree.heads();
    this.#parents = tree.rawParents();
  }

  read(entry: Entry, at: number): void {
    this.#row++;
    const carried = this.#carried;
    this.#carried = undefined;
    switch (entry.type) {
      case "head":
        if (entry.revokes) this.#reverse(entry.id, entry.revokes);
        else if (this.#moves) this.#navigated([entry.id]);
        return;
      case "branch_summary":
        if (carried !== undefined && entry.parentId === carried) this.#last()?.lines.push(entry.id);
        else if (this.#moves) this.#navigated([entry.id]);
        return;
      case "compaction":
        if (entry.trigger === "navigation" && this.#moves) {
          this.#navigated([entry.id]);
          this.#carried = entry.id;
        } else this.#did({ kind: "rewrite", node: entry, at });
        return;
      case "elision":
        this.#did({ kind: "rewrite", node: entry, at });
        return;
      case "restore":
        this.#reverse(entry.id, entry.revokes);
        return;
      case "handed_off":
        if (!entry.undone) this.#did({ kind: "handoff", mark: entry });
        else this.steps.past = this.steps.past.filter((step) => step.kind !== "handoff" || step.mark.to !== entry.to);
        return;
    }
  }

  get #back(): PathNode | null {
    return this.#heads[this.#row - 1] ?? null;
  }

  /** Whether this line stands, or leaves the head, elsewhere than where the head was. */
  get #moves(): boolean {
    const parent = this.#parents[this.#row] as number;
    return (this.#heads[parent]?.at ?? -1) !== (this.#back?.at ?? -1);
  }

  #last(): (Step & { kind: "navigation" }) | undefined {
    const last = this.steps.past.at(-1);
    return last?.kind === "navigation" ? last : undefined;
  }

  #did(step: Step): void {
    this.steps.past.push(step);
    this.steps.future = [];
  }

  #navigated(lines: EntryId[]): void {
    this.#did({ kind: "navigation", lines, back: this.#back });
  }

  #reverse(by: EntryId, revokes: readonly EntryId[]): void {
    const { past, future } = this.steps;
    const back = this.#back;
    const again = future.findLast((taken) => revokes.includes(taken.by));
    if (again) {
      future.splice(future.indexOf(again), 1);
      const from = (step: Step): Step => (step.kind === "navigation" ? { ...step, lines: [by], back } : step);
      past.push(...again.steps.map(from));
      return;
    }
    const steps = past.filter((step) => idsOf(step).some((id) => revokes.includes(id)));
    if (steps.length === 0) return;
    this.steps.past = past.filter((step) => !steps.includes(step));
    future.push({ by, steps, back });
  }
}

function idsOf(step: Step): EntryId[] {
  return step.kind === "rewrite" ? [step.node.id] : step.kind === "navigation" ? step.lines : [];
}

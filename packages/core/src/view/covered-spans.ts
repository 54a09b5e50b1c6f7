/** Which parts of an entry's blocks newer stubs already speak for. Must not know what a stub shows. */

type Span = readonly [start: number, end: number];

/** Grows newest stub first; adding and asking cost a binary search, however many stubs one block has. */
export class CoveredSpans {
  readonly #whole = new Set<number>();
  /** By block, sorted; spans that overlap are joined, spans that only touch are not. */
  readonly #spans = new Map<number, Span[]>();

  /** Adds a span of a block (none: the whole block); false when it overlaps what was added before, itself included. */
  add(block: number, span: Span | undefined): boolean {
    const spans = this.#spans.get(block) ?? [];
    const isFree = !this.#whole.has(block);
    if (span === undefined) {
      this.#whole.add(block);
      return isFree && spans.length === 0;
    }
    if (!isFree) return false;
    this.#spans.set(block, spans);
    const end = firstIndex(spans, ([start]) => start >= span[1]);
    const from = Math.min(
      end,
      firstIndex(spans, (other) => other[1] > span[0]),
    );
    if (from === end) {
      // Touching spans sort by their start, an empty one first.
      const at = firstIndex(spans, (other) => other[0] > span[0] || (other[0] === span[0] && other[1] > span[1]));
      spans.splice(at, 0, span);
      return true;
    }
    const [first, last] = [spans[from] as Span, spans[end - 1] as Span];
    spans.splice(from, end - from, [Math.min(span[0], first[0]), Math.max(span[1], last[1])]);
    return false;
  }
}

/** Index of the first span that passes, in a list where all after it pass too. */
function firstIndex(spans: readonly Span[], passes: (span: Span) => boolean): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(spans[middle] as Span)) high = middle;
    else low = middle + 1;
  }
  return low;
}

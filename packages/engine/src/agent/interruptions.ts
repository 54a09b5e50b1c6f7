/**
 * Stopping what runs for something the user asked meanwhile, and going on afterwards. Must not know what is run or asked.
 * Source: design, "Manual compaction during a run".
 */

/** What was asked for; resolves to whether the work is to be gone on with. */
type Asked = (signal: AbortSignal) => Promise<boolean>;

export class Interruptions {
  #running: AbortController | undefined;
  #asked: Asked | undefined;

  /**
   * Does `work` (told whether it is begun again), then whatever interrupted it, and the work again, until nothing did or
   * it is not to be gone on with. Throws what the work throws.
   */
  async run<T>(signal: AbortSignal, work: (signal: AbortSignal, isAgain: boolean) => Promise<T>): Promise<T> {
    try {
      for (let isAgain = false; ; isAgain = true) {
        this.#running = new AbortController();
        const result = await work(AbortSignal.any([signal, this.#running.signal]), isAgain);
        const asked = this.#asked;
        if (asked === undefined) return result;
        this.#asked = undefined;
        if (!(await asked(signal)) || signal.aborted) return result;
      }
    } finally {
      this.#running = undefined;
      // The work threw: whoever asked is told at once that nothing comes of it.
      await this.#asked?.(AbortSignal.abort());
      this.#asked = undefined;
    }
  }

  /** Stops what runs and does `asked` then; false when nothing runs, and `busy` when something else was asked already. */
  interrupt(asked: Asked): boolean | "busy" {
    if (this.#running === undefined) return false;
    if (this.#asked) return "busy";
    this.#asked = asked;
    this.#running.abort();
    return true;
  }
}

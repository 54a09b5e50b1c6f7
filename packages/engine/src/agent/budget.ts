/** Money that an agent and everything that works for it may spend, counted as it is spent. US dollars. */
export class Budget {
  readonly limitUsd: number;
  #spentUsd = 0;

  constructor(limitUsd: number) {
    this.limitUsd = limitUsd;
  }

  /** Counts a call; undefined where its price is not known. */
  spend(usd: number | undefined): void {
    this.#spentUsd += usd ?? 0;
  }

  get spentUsd(): number {
    return this.#spentUsd;
  }

  get isSpent(): boolean {
    return this.#spentUsd >= this.limitUsd;
  }
}

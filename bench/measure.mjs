/* Timing: repeat, sort, take quantiles. Milliseconds. */

/** Times of `runs` calls of `step`, sorted; one call before them warms the caches. */
export async function times(runs, step) {
  await step(-1);
  const all = [];
  for (let i = 0; i < runs; i++) {
    const started = performance.now();
    await step(i);
    all.push(performance.now() - started);
  }
  return all.sort((a, b) => a - b);
}

/** The q-quantile of sorted times. */
export const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];

/** A number for a table: three digits that matter. */
export const short = (ms) => (ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(3));

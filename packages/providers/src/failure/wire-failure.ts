/** A failed call on its way up inside this package. Never leaves it: `runCall` turns it into the `failure` of an `end`. */
import type { CallFailure } from "@stet/core";

/** Carries a {@link CallFailure}. */
export class WireFailure extends Error {
  readonly failure: CallFailure;

  constructor(failure: CallFailure, cause?: unknown) {
    super(failure.message, cause === undefined ? undefined : { cause });
    this.name = "WireFailure";
    this.failure = failure;
  }
}

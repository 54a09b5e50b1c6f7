/**
 * Errors by kind: operating errors (`StetError`, thrown at ports, caught once in the shell) and bugs (`InvariantError`,
 * never caught). Outcomes are return values and do not live here.
 */

/** `family/what`; families: store, tree, context, provider, rewrite, hook, config, input. */
export type ErrorCode =
  `${"store" | "tree" | "context" | "provider" | "rewrite" | "hook" | "config" | "input"}/${string}`;

const BRAND = Symbol.for("stet.error");

/** An operating error: what failed, on what, what to do. `exitCode` is the documented process exit code. */
export class StetError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly data: Record<string, unknown>;
  readonly exitCode: number;

  constructor(
    code: ErrorCode,
    message: string,
    options: { data?: Record<string, unknown>; exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "StetError";
    this.code = code;
    this.data = options.data ?? {};
    this.exitCode = options.exitCode ?? 3;
  }
}

/** Whether `value` is a {@link StetError}, also one made by another copy of this package. */
export function isStetError(value: unknown): value is StetError {
  return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}

/** A bug in Stet. Never caught. */
export class InvariantError extends Error {
  override name = "InvariantError";
}

/** Throws {@link InvariantError} unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

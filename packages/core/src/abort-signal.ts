/** The platform's `AbortSignal`, named here so that ports can mention it without bringing a platform's types along. */
declare global {
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

export {};

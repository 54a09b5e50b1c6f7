/** The command line's parts, for tests; running it is main.ts. */
export { compose, LOCAL_WRITER } from "./compose.ts";
export { openSession } from "./open-file.ts";

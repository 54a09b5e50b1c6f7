/** Facts about providers and their models. */
export { windowOf } from "./windows.ts";

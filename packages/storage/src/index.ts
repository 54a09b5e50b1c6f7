/** The public list of the stores, written by hand. */
export { JsonlStore, type JsonlStoreOptions } from "./jsonl/jsonl-store.ts";
export { nodeFs } from "./jsonl/node-fs.ts";
export type { Owner, ProcessState } from "./jsonl/owner.ts";
export { nodeOwner } from "./jsonl/owner.ts";
export { ChunkReader, LineFile, type ReadAt } from "./line-file.ts";
export { MemoryStore } from "./memory.ts";

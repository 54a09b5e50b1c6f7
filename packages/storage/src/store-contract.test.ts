import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { FaultFs } from "../../testkit/src/fault-fs.ts";
import { describeStoreContract } from "../../testkit/src/store-contract.ts";
import { JsonlStore } from "./jsonl/jsonl-store.ts";
import { MemoryStore } from "./memory.ts";

const runner = { describe, expect, it };

describeStoreContract("memory", runner, () => {
  const store = new MemoryStore();
  const file = "session";
  return {
    store,
    other: store,
    file,
    bytes: () => store.bytes(file),
    replace: (bytes) => store.put(file, bytes),
    addBytes: (bytes) => store.addBytes(file, bytes),
    remove: () => store.remove(file),
  };
});

describeStoreContract("jsonl on disk", runner, () => {
  const folder = mkdtempSync(join(tmpdir(), "stet-store-"));
  const file = join(folder, "deep", "session.jsonl");
  return {
    store: new JsonlStore(),
    other: new JsonlStore(),
    file,
    bytes: () => (existsSync(file) ? readFileSync(file) : undefined),
    replace: (bytes) => {
      const beside = join(folder, "beside");
      writeFileSync(beside, bytes);
      mkdirSync(dirname(file), { recursive: true });
      renameSync(beside, file);
    },
    addBytes: (bytes) => appendFileSync(file, bytes),
    remove: () => rmSync(file),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeStoreContract("jsonl on the fault file system", runner, () => {
  const fs = new FaultFs();
  const file = "/session.jsonl";
  return {
    store: new JsonlStore({ fs }),
    other: new JsonlStore({ fs }),
    file,
    bytes: () => fs.bytes(file),
    replace: (bytes) => fs.put(file, bytes),
    addBytes: (bytes) => fs.addBytes(file, bytes),
    remove: () => fs.unlink(file),
  };
});

/** Content-addressed files in `<session file>.blobs/`, 0600 in a folder of 0700. Must not know who refers to them. */
import { dirname, join } from "node:path";
import type { FsPort } from "@stet/core";
import { blobDamaged, fileError, systemCode } from "../store-error.ts";
import { sha256 } from "../tail.ts";
import { createWhole, makeFolders } from "./durable-file.ts";

/** Folder of the blobs of `file`. */
export function blobFolder(file: string): string {
  return `${file}.blobs`;
}

/** Stores bytes, synced with their folder when it resolves; returns their SHA-256 (hex). */
export async function putBlob(fs: FsPort, file: string, bytes: Uint8Array): Promise<string> {
  const hash = sha256(bytes);
  const folder = blobFolder(file);
  const path = join(folder, hash);
  try {
    await makeFolders(fs, folder);
    if (isWhole(fs, file, hash)) await fs.syncDirectory(folder);
    else await createWhole(fs, path, [bytes], "same");
    // Also when the folder was there: whoever made it may have died before its name was on disk.
    await fs.syncDirectory(dirname(folder));
    return hash;
  } catch (error) {
    throw fileError(error, "store a blob in", folder);
  }
}

/** The bytes of a blob, checked; `undefined` when there is none. Throws `store/blob_damaged` (exit 3). */
export function readBlob(fs: FsPort, file: string, hash: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const path = join(blobFolder(file), hash);
  let bytes: Uint8Array;
  try {
    const fd = fs.open(path, "read");
    try {
      bytes = readWhole(fs, fd);
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
  if (sha256(bytes) !== hash) throw blobDamaged(file, hash);
  return bytes;
}

function isWhole(fs: FsPort, file: string, hash: string): boolean {
  try {
    return readBlob(fs, file, hash) !== undefined;
  } catch {
    return false; // damaged: written again
  }
}

function readWhole(fs: FsPort, fd: number): Uint8Array {
  const bytes = new Uint8Array(fs.statusOf(fd).sizeBytes);
  for (let done = 0; done < bytes.length; ) {
    const read = fs.read(fd, bytes.subarray(done), done);
    if (read === 0) return bytes.subarray(0, done);
    done += read;
  }
  return bytes;
}

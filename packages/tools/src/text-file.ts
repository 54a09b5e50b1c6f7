/** Text files as they are: byte order mark and line endings kept, binary files refused. */

import { randomUUID } from "node:crypto";
import { readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface TextFile {
  /** With `\n` alone at line ends, without the mark. */
  text: string;
  hasBom: boolean;
  eol: "\n" | "\r\n";
}

const SNIFFED_BYTES = 8192;

/** The file, or `binary` when it holds NUL bytes in its first part. Throws file-system errors. */
export async function readText(path: string): Promise<TextFile | "binary"> {
  const bytes = await readFile(path);
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return "binary";
  const raw = bytes.toString("utf8");
  const hasBom = raw.startsWith("\uFEFF");
  const body = hasBom ? raw.slice(1) : raw;
  return { text: body.replaceAll("\r\n", "\n"), hasBom, eol: body.includes("\r\n") ? "\r\n" : "\n" };
}

/** Writes the whole file or nothing: beside it, then renamed over it, with its mode kept. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const beside = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await writeFile(beside, content, { mode });
    await rename(beside, path);
  } catch (error) {
    await unlink(beside).catch(() => {});
    throw error;
  }
}

/** The file as bytes again. */
export function spelt({ text, hasBom, eol }: TextFile): string {
  return (hasBom ? "\uFEFF" : "") + (eol === "\r\n" ? text.replaceAll("\n", "\r\n") : text);
}

/**
 * The project's files, watched: how they were before a tool ran, and what it changed. Contents are kept in a cache below the
 * data folder, by their SHA-256; unchanged files are told by their stat and not read again. Must not follow links.
 */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { lstat, mkdir, readdir, readFile, realpath, rename, unlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import type { ChangedFile, FileNow, WorkFiles } from "@stet/core";
import { absolutePath, shownPath } from "./paths.ts";

/** Beyond these a folder is not watched, or a file not kept. */
export interface WatchLimits {
  files: number;
  /** Of one file. */
  fileBytes: number;
  /** Of all files together. */
  totalBytes: number;
}

const LIMITS: WatchLimits = { files: 20_000, fileBytes: 2 * 1024 * 1024, totalBytes: 256 * 1024 * 1024 };
/** Folders that hold no work of anybody; used where git does not say what is ignored. */
const SKIPPED = new Set([".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__"]);
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** A file changed this short before it was read may change again without its times telling. */
const RACY_MS = 100;
const STALE_OBJECT_MS = 7 * 24 * 3600 * 1000;
const READ_AT_ONCE = 32;

/** What is known of a file without reading it again. */
interface Known {
  /** Size, times and inode, as one text. */
  stat: string;
  mode: number;
  /** Absent: larger than what is kept. */
  hash?: string;
}

type Listing = Map<string, Known>;

export interface WatchOptions {
  /** Folder of the contents; may be deleted at any time between two marks. */
  cache: string;
  /** Absolute paths; what begins with one of them is not watched: the session's own files. */
  exclude?: readonly string[];
  limits?: Partial<WatchLimits>;
}

/** Watches `cwd`. */
export function workFiles(cwd: string, options: WatchOptions): WorkFiles {
  return new WatchedFolder(cwd, options);
}

class WatchedFolder implements WorkFiles {
  readonly #cwd: string;
  readonly #cache: string;
  readonly #exclude: readonly string[];
  readonly #limits: WatchLimits;
  /** Absolute paths, as tools were given them. */
  #paths: string[] = [];
  #marked: Listing | undefined;
  #index: Listing | undefined;
  /** Real path of the folder, remembered, since a tool may remove it. */
  #real: string | undefined;

  constructor(cwd: string, { cache, exclude = [], limits }: WatchOptions) {
    this.#cwd = cwd;
    this.#cache = cache;
    this.#exclude = exclude;
    this.#limits = { ...LIMITS, ...limits };
  }

  async mark(paths: readonly string[]): Promise<string | undefined> {
    this.#marked = undefined;
    this.#paths = paths.map((path) => absolutePath(path, this.#cwd));
    try {
      await mkdir(join(this.#cache, "objects"), { recursive: true, mode: 0o700 });
      if (!this.#index) {
        this.#index = await this.#readIndex();
        await this.#prune(this.#index, Date.now());
      }
      const listing = await this.#list();
      if (typeof listing === "string") return listing;
      this.#marked = listing;
      await this.#writeIndex(listing);
      return undefined;
    } catch (error) {
      return `files are not kept: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async changes(): Promise<ChangedFile[]> {
    const before = this.#marked;
    if (!before) return [];
    const after = await this.#list();
    if (typeof after === "string") return [];
    const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
    const changed: ChangedFile[] = [];
    for (const path of paths) {
      const [was, is] = [before.get(path), after.get(path)];
      const isSame = was && is && (was.hash === undefined ? was.stat === is.stat : was.hash === is.hash);
      if (!isSame) changed.push({ path, before: await this.#kept(was), after: await this.#kept(is) });
    }
    this.#marked = after;
    return changed;
  }

  async read(path: string): Promise<FileNow | undefined> {
    const file = await this.#placeOf(path);
    if (file === undefined) return undefined;
    const stats = await lstat(file, { bigint: true }).catch(nothingThere);
    if (stats === undefined) return { bytes: null, mode: null };
    if (!stats.isFile() || stats.size > this.#limits.fileBytes) return undefined;
    return { bytes: await readFile(file), mode: Number(stats.mode & 0o777n) };
  }

  async write(path: string, { bytes, mode }: FileNow): Promise<void> {
    const file = await this.#placeOf(path);
    if (file === undefined) throw new Error("it is behind a link");
    if (bytes === null) return unlink(file).catch(nothingThere);
    await mkdir(dirname(file), { recursive: true });
    const beside = join(dirname(file), `.${randomUUID()}.tmp`);
    try {
      await writeFile(beside, bytes, { mode: mode ?? 0o644, flag: "wx" });
      await rename(beside, file);
    } catch (error) {
      await unlink(beside).catch(() => {});
      throw error;
    }
  }

  async #root(): Promise<string> {
    this.#real ??= await realpath(this.#cwd);
    return this.#real;
  }

  /** Absolute path of a recorded one; undefined when a folder on the way is a link by now. */
  async #placeOf(path: string): Promise<string | undefined> {
    const root = await this.#root();
    const file = resolve(root, path);
    let folder = dirname(file);
    for (;;) {
      const real = await realpath(folder).catch(nothingThere);
      if (real !== undefined) return real === folder ? file : undefined;
      folder = dirname(folder);
    }
  }

  /** Every file with what is known of it; or why the folder is not watched. */
  async #list(): Promise<Listing | string> {
    const root = await this.#root();
    const found = await filesIn(root, this.#limits.files);
    if (found.length > this.#limits.files)
      return `files are not kept: ${this.#cwd} holds more than ${this.#limits.files} files`;
    for (const path of this.#paths) found.push(await placed(path, root));
    const listing: Listing = new Map();
    let total = 0;
    const excluded = await Promise.all(this.#exclude.map((path) => placed(path, root)));
    const names = [...new Set(found)].filter((name) => !excluded.some((prefix) => name.startsWith(prefix)));
    for (let i = 0; i < names.length; i += READ_AT_ONCE) {
      const some = names.slice(i, i + READ_AT_ONCE);
      const known = await Promise.all(some.map((name) => this.#look(resolve(root, name), name)));
      some.forEach((name, k) => {
        const one = known[k];
        if (!one) return;
        listing.set(name, one.known);
        if (one.known.hash !== undefined) total += one.bytes;
      });
      if (total > this.#limits.totalBytes)
        return `files are not kept: ${this.#cwd} holds more than ${this.#limits.totalBytes} bytes`;
    }
    this.#index = listing;
    return listing;
  }

  async #look(file: string, name: string): Promise<{ known: Known; bytes: number } | undefined> {
    const stats = await lstat(file, { bigint: true }).catch(() => undefined);
    if (!stats?.isFile()) return undefined;
    const bytes = Number(stats.size);
    const mode = Number(stats.mode & 0o777n);
    const stat = statText(stats);
    if (bytes > this.#limits.fileBytes) return { known: { stat, mode }, bytes };
    const before = this.#index?.get(name);
    if (before?.stat === stat && before.hash !== undefined) return { known: { ...before, mode }, bytes };
    const content = await readFile(file).catch(() => undefined);
    if (content === undefined) return undefined;
    const hash = createHash("sha256").update(content).digest("hex");
    await this.#keep(hash, content);
    const isRacy = Date.now() - Number(stats.ctimeMs) < RACY_MS;
    return { known: { stat: isRacy ? "" : stat, mode, hash }, bytes };
  }

  async #keep(hash: string, content: Uint8Array): Promise<void> {
    const path = this.#object(hash);
    if (await lstat(path).catch(nothingThere)) return;
    const beside = `${path}.${randomUUID()}`;
    await writeFile(beside, content, { mode: 0o600 });
    await rename(beside, path);
  }

  async #kept(known: Known | undefined): Promise<FileNow | undefined> {
    if (known === undefined) return { bytes: null, mode: null };
    if (known.hash === undefined) return undefined;
    const bytes = await readFile(this.#object(known.hash)).catch(() => undefined);
    return bytes && { bytes, mode: known.mode };
  }

  #object(hash: string): string {
    return join(this.#cache, "objects", hash);
  }

  async #readIndex(): Promise<Listing> {
    try {
      const entries = JSON.parse(await readFile(join(this.#cache, "index.json"), "utf8")) as [string, Known][];
      const objects = new Set(await readdir(join(this.#cache, "objects")));
      return new Map(entries.filter(([, { hash }]) => hash === undefined || objects.has(hash)));
    } catch {
      return new Map(); // first use, or damaged: every file is read once
    }
  }

  async #writeIndex(listing: Listing): Promise<void> {
    const beside = join(this.#cache, `index.${randomUUID()}`);
    await writeFile(beside, JSON.stringify([...listing]), { mode: 0o600 });
    await rename(beside, join(this.#cache, "index.json"));
  }

  /** Removes contents no file has had for a week. */
  async #prune(index: Listing, now: number): Promise<void> {
    const used = new Set([...index.values()].map(({ hash }) => hash));
    for (const hash of await readdir(join(this.#cache, "objects"))) {
      if (used.has(hash)) continue;
      const stats = await lstat(this.#object(hash)).catch(nothingThere);
      if (stats && now - stats.mtimeMs > STALE_OBJECT_MS) await unlink(this.#object(hash)).catch(nothingThere);
    }
  }
}

const statText = ({ size, mtimeNs, ctimeNs, ino }: BigIntStats) => `${size} ${mtimeNs} ${ctimeNs} ${ino}`;

function nothingThere(error: unknown): undefined {
  const { code } = error as { code?: string };
  if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  return undefined;
}

/** A path below its real folder, relative to `root` where it lies in it. */
async function placed(path: string, root: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  const file = join(folder, path.slice(dirname(path).length).replace(/^[/\\]/, ""));
  return shownPath(file, root).split(sep).join("/");
}

const run = promisify(execFile);

/** Names relative to `root`: what git does not ignore, else everything below; one more than `most` when there are more. */
async function filesIn(root: string, most: number): Promise<string[]> {
  try {
    const args = ["-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const { stdout } = await run("git", args, { cwd: root, maxBuffer: MAX_LIST_BYTES });
    return stdout
      .split("\0")
      .filter((name) => name !== "")
      .slice(0, most + 1);
  } catch {
    return walk(root, most);
  }
}

async function walk(root: string, most: number): Promise<string[]> {
  const found: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined && found.length <= most; folder = folders.pop()) {
    for (const item of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, item.name);
      if (item.isDirectory() && !SKIPPED.has(item.name)) folders.push(path);
      else if (item.isFile()) found.push(relative(root, path).split(sep).join("/"));
      if (found.length > most) break;
    }
  }
  return found;
}

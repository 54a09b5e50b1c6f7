/*
 * Makes a checkout ready to use: dependencies installed, packages built. Plain Node, no dependencies, because it runs
 * before there are any. It writes to stderr only, and does nothing at all when there is nothing to do. It must not run
 * checks or tests.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folder for what set-up remembers between runs (not in git). Files in it carry no extension, so no checker reads them. */
export const stateFolder = join(root, ".stet-setup");

const MINIMUM_NODE = [20, 19];
const LOCK_PATIENCE_MS = 10 * 60_000;
const LOCK_WITHOUT_OWNER_MS = 5_000;

/** A set-up step that could not be done. `exitCode`: 1 it failed, 2 this machine does not fit. */
export class SetupFailure extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Checks Node, installs and builds where needed. Ends the process with one line on stderr and exit 1 or 2 when that
 * fails. With `quiet`, says nothing unless it fails. Costs well under 100 ms when all is ready.
 */
export function ensureReady({ quiet = false } = {}) {
  orExit(() => {
    ensureInstalled({ quiet });
    ensureBuilt({ quiet });
  });
}

/** Runs `step`; a {@link SetupFailure} becomes one line on stderr and the end of the process. */
export function orExit(step) {
  try {
    return step();
  } catch (failure) {
    if (!(failure instanceof SetupFailure)) throw failure;
    process.stderr.write(`error: ${failure.message}\n`);
    process.exit(failure.exitCode);
  }
}

/** Folder of the pinned pi release that tests and benchmarks compare with; its packages never ship. */
const peerFolder = join(root, "test/pi-compat");

/** Checks Node's version and installs the dependencies unless they are in place. Throws {@link SetupFailure}. */
export function ensureInstalled({ quiet = false } = {}) {
  checkNode(process.versions.node);
  ensureFolder(root, "development", quiet);
}

/** Installs the peer that tests and benchmarks compare with, unless it is in place. Throws {@link SetupFailure}. */
export function ensurePeer({ quiet = false } = {}) {
  ensureFolder(peerFolder, "comparison", quiet);
}

function ensureFolder(folder, what, quiet) {
  if (isInstalled(folder)) return;
  withLock(() => {
    if (!isInstalled(folder)) install(folder, what, quiet);
  });
}

/** Builds the packages unless nothing changed since the last build. Throws {@link SetupFailure}. */
export function ensureBuilt({ quiet = false } = {}) {
  const stamp = join(stateFolder, "build");
  if (isBuilt(stamp)) return;
  withLock(() => {
    if (isBuilt(stamp)) return;
    say(quiet, "building the packages (a few seconds)");
    rmSync(stamp, { force: true });
    // Taken before the build: a file saved meanwhile makes the next run build again.
    const fingerprint = sourceFingerprint();
    const run = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b"], {
      cwd: root,
      encoding: "utf8",
    });
    if (run.status !== 0) {
      process.stderr.write(`${run.stdout ?? ""}${run.stderr ?? ""}`);
      throw new SetupFailure("the build failed: the compiler's messages are above; correct them and run this again");
    }
    writeFileSync(stamp, fingerprint);
  });
}

/** Throws {@link SetupFailure} (exit 2) when `version` is below the supported minimum. */
export function checkNode(version) {
  const [major, minor] = version.split(".").map(Number);
  if (major > MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor >= MINIMUM_NODE[1])) return;
  const wanted = MINIMUM_NODE.join(".");
  throw new SetupFailure(`Node ${wanted} or newer is needed: this is Node ${version}; install a newer one`, 2);
}

/**
 * Whether `node_modules` holds what `package-lock.json` asks for, on this kind of machine. npm keeps its own record of
 * a finished install, so one made by hand counts and one cut short does not. A linked `node_modules` belongs to another
 * checkout and is never touched.
 */
export function isInstalled(folder) {
  const modules = join(folder, "node_modules");
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return true;
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record)) return false;
  return recordMatches(
    JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages,
    JSON.parse(readFileSync(record, "utf8")).packages,
  );
}

/** Whether the installed packages are those wanted: the same bytes, and native ones for this platform. */
export function recordMatches(wanted, installed, { platform = process.platform, arch = process.arch } = {}) {
  const complete = Object.entries(wanted).every(([path, entry]) => {
    if (path === "" || (entry.optional && !installed[path])) return true;
    return installed[path] !== undefined && installed[path].integrity === entry.integrity;
  });
  const fits = (list, value) => list === undefined || list.includes(value);
  return complete && Object.values(installed).every((entry) => fits(entry.os, platform) && fits(entry.cpu, arch));
}

/** A writable npm cache folder: the configured one, else one beside the system's temporary files. */
export function npmCache(env = process.env) {
  const configured = env.npm_config_cache || join(safeHome(), ".npm");
  try {
    mkdirSync(configured, { recursive: true });
    accessSync(configured, constants.W_OK);
    return configured;
  } catch {
    return join(tmpdir(), `stet-npm-cache-${process.getuid?.() ?? "user"}`);
  }
}

function safeHome() {
  try {
    return homedir();
  } catch {
    return join(tmpdir(), "stet-home");
  }
}

function install(folder, what, quiet) {
  const packages = Object.values(JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages);
  const count = packages.filter((entry) => entry.integrity && !entry.optional).length;
  say(quiet, `installing ${count} ${what} packages with npm ci (about 20 seconds, needed once)`);
  // No dependency needs an install script, so none may run. The cache comes first: a second install works offline.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const retries = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
  const run = runNpm([...args, ...retries, "--no-progress"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, npm_config_cache: npmCache(), npm_config_update_notifier: "false" },
  });
  if (run.status === 0) return;
  const output = `${run.stdout ?? ""}${run.stderr ?? ""}`;
  throw new SetupFailure(explainInstall(output, run.error));
}

/** One line saying why the install failed and what to do. `output` is what npm printed. */
export function explainInstall(output, spawnError) {
  if (spawnError) return `npm could not be started (${spawnError.code}): install npm, it comes with Node`;
  const code = /npm error code (\S+)/.exec(output)?.[1] ?? "unknown";
  const unreachable = /^(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET\w*)$/;
  if (unreachable.test(code)) {
    return `the package registry cannot be reached (${code}); connect once, or name a mirror with npm_config_registry, and run this again`;
  }
  const reason = /npm error (?!code )(.+)/.exec(output)?.[1] ?? "npm gave no reason";
  return `installing the packages failed (${code}): ${reason}; run \`npm ci\` to see all of it`;
}

function runNpm(args, options) {
  const beside = dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath ?? "",
    join(beside, "../lib/node_modules/npm/bin/npm-cli.js"),
    join(beside, "node_modules/npm/bin/npm-cli.js"),
  ];
  const script = candidates.find((path) => basename(path) === "npm-cli.js" && existsSync(path));
  if (script) return spawnSync(process.execPath, [script, ...args], options);
  return spawnSync("npm", args, { ...options, shell: process.platform === "win32" });
}

function isBuilt(stamp) {
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== sourceFingerprint()) return false;
  return builtPackages().every((name) => existsSync(join(root, "packages", name, "dist/.tsbuildinfo")));
}

function builtPackages() {
  const packages = join(root, "packages");
  return readdirSync(packages).filter((name) => existsSync(join(packages, name, "src")));
}

/** A hash over path, size and time of everything the build reads; contents are not opened. */
function sourceFingerprint() {
  const hash = createHash("sha256");
  const add = (path) => {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  const walk = (folder) => {
    for (const item of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, item.name);
      if (item.isDirectory()) walk(path);
      else if (!item.name.endsWith(".test.ts")) add(path);
    }
  };
  for (const name of ["tsconfig.base.json", "tsconfig.json", "package-lock.json"]) add(join(root, name));
  for (const name of builtPackages()) {
    const folder = join(root, "packages", name);
    add(join(folder, "tsconfig.json"));
    walk(join(folder, "src"));
  }
  return hash.digest("hex");
}

/** Runs `step` while no other process holds the folder `lock`. A lock left behind by a process that died is taken over. */
export function withLock(step, lock = join(stateFolder, "lock")) {
  mkdirSync(dirname(lock), { recursive: true });
  const me = `${hostname()} ${process.pid}`;
  const end = Date.now() + LOCK_PATIENCE_MS;
  let said = false;
  while (!take(lock, me)) {
    if (Date.now() > end) {
      throw new SetupFailure(`another set-up has been running for ten minutes: end it, or delete ${lock}`);
    }
    if (!said) say(false, "waiting for another set-up of this checkout");
    said = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  try {
    step();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function take(lock, me) {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, "owner"), me);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") {
      throw new SetupFailure(`the checkout cannot be written to (${error.code}): ${lock}; make it writable`);
    }
  }
  if (isStale(lock)) {
    // Renamed before it is removed, so that of two waiting processes only one takes it away.
    const grave = `${lock}-${process.pid}`;
    try {
      renameSync(lock, grave);
      rmSync(grave, { recursive: true, force: true });
    } catch {
      // The other one was quicker; the next round tries again.
    }
  }
  return false;
}

/** A lock whose owner no longer runs on this machine, or that never got an owner. */
function isStale(lock) {
  try {
    const owner = join(lock, "owner");
    const named = existsSync(owner) ? readFileSync(owner, "utf8") : "";
    if (named === "") return Date.now() - statSync(lock).mtimeMs > LOCK_WITHOUT_OWNER_MS;
    const [host, pid] = named.split(" ");
    if (host !== hostname()) return false;
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function say(quiet, line) {
  if (!quiet) process.stderr.write(`stet: ${line}\n`);
}

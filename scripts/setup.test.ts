import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  checkNode,
  explainInstall,
  isInstalled,
  type LockedPackage,
  npmCache,
  recordMatches,
  withLock,
} from "./setup.mjs";

const machine = { platform: "linux", arch: "x64" };
const wanted: Record<string, LockedPackage> = {
  "": {},
  "packages/core": {},
  "node_modules/tool": { integrity: "sha512-a" },
  "node_modules/tool-linux": { integrity: "sha512-l", optional: true, os: ["linux"], cpu: ["x64"] },
  "node_modules/tool-darwin": { integrity: "sha512-d", optional: true, os: ["darwin"], cpu: ["arm64"] },
};
const { "": _root, "node_modules/tool-darwin": _otherSystem, ...installed } = wanted;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stet-setup-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("recordMatches", () => {
  it("accepts an install without the parts for other systems", () => {
    expect(recordMatches(wanted, installed, machine)).toBe(true);
  });

  it("rejects a missing package and a changed one", () => {
    const { "node_modules/tool": _tool, ...without } = installed;
    expect(recordMatches(wanted, without, machine)).toBe(false);
    const changed = { ...installed, "node_modules/tool": { integrity: "sha512-b" } };
    expect(recordMatches(wanted, changed, machine)).toBe(false);
  });

  it("rejects an install made on another system", () => {
    expect(recordMatches(wanted, installed, { platform: "darwin", arch: "arm64" })).toBe(false);
  });
});

describe("isInstalled", () => {
  const write = (path: string, packages: unknown) => writeFileSync(join(folder, path), JSON.stringify({ packages }));

  it("wants npm's own record of a finished install", () => {
    write("package-lock.json", { "": {} });
    expect(isInstalled(folder)).toBe(false);
    mkdirSync(join(folder, "node_modules"));
    expect(isInstalled(folder)).toBe(false);
    write("node_modules/.package-lock.json", {});
    expect(isInstalled(folder)).toBe(true);
  });

  it("leaves a linked node_modules alone, even a broken link", () => {
    symlinkSync(join(folder, "elsewhere"), join(folder, "node_modules"));
    expect(isInstalled(folder)).toBe(true);
  });
});

describe("withLock", () => {
  it("holds the lock during the step and lets go of it, also when the step fails", () => {
    const lock = join(folder, "state", "lock");
    let held = false;
    const step = () => {
      held = existsSync(lock);
      throw new Error("step");
    };
    expect(() => withLock(step, lock)).toThrow("step");
    expect(held).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });

  it("takes over the lock of a process that died", () => {
    const lock = join(folder, "lock");
    const { pid } = spawnSync(process.execPath, ["--version"]);
    mkdirSync(lock);
    writeFileSync(join(lock, "owner"), `${hostname()} ${pid}`);
    let ran = false;
    withLock(() => {
      ran = true;
    }, lock);
    expect(ran).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });
});

describe("messages", () => {
  it.each(["18.20.0", "20.18.3", "20.9.0"])("refuses Node %s with exit code 2", (version) => {
    expect(() => checkNode(version)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it.each(["20.19.0", "22.0.0", "24.1.0"])("accepts Node %s", (version) => {
    expect(() => checkNode(version)).not.toThrow();
  });

  it.each(["ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "ENOTCACHED"])("says what to do on %s", (code) => {
    expect(explainInstall(`npm error code ${code}\nnpm error errno X\n`)).toContain("registry cannot be reached");
  });

  it("quotes npm's reason otherwise, on one line", () => {
    const line = explainInstall("npm error code EUSAGE\nnpm error the lock file is out of date\nnpm error more\n");
    expect(line).toContain("the lock file is out of date");
    expect(line).not.toContain("\n");
  });
});

describe("npmCache", () => {
  it("uses the configured folder", () => {
    expect(npmCache({ npm_config_cache: join(folder, "cache") })).toBe(join(folder, "cache"));
  });

  it("falls back to the system's temporary folder when that one cannot be made", () => {
    writeFileSync(join(folder, "file"), "");
    expect(npmCache({ npm_config_cache: join(folder, "file", "cache") })).toContain(tmpdir());
  });
});

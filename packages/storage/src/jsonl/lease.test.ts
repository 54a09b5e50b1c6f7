import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { FaultFs } from "../../../testkit/src/fault-fs.ts";
import { JsonlStore } from "./jsonl-store.ts";
import { takeLease } from "./lease.ts";
import { nodeOwner, type Owner, type ProcessState } from "./owner.ts";

const FILE = "/session.jsonl";
const LOCK = `${FILE}.lock`;

/** A process of a host on which `running` (pid to start) is what runs. */
const owner = (pid: number, running: Record<number, string | undefined>, host = "here"): Owner => ({
  pid,
  host,
  stateOf: (asked): ProcessState =>
    !(asked in running)
      ? { alive: false }
      : running[asked]
        ? { alive: true, startedAt: running[asked] }
        : { alive: true },
});

const leaseText = (fs: FaultFs) => JSON.parse(fs.bytes(LOCK)!.toString());
const writeLease = (fs: FaultFs, content: object) => fs.put(LOCK, `${JSON.stringify({ token: "t", ...content })}\n`);

describe("lease", () => {
  it("names process, start and host, and is gone after release", async () => {
    const fs = new FaultFs();
    const lease = await takeLease(fs, owner(7, { 7: "noon" }), FILE, false);
    expect(leaseText(fs)).toMatchObject({ pid: 7, host: "here", startTime: "noon" });
    expect(fs.paths()).toEqual(["/", LOCK]);
    lease.release();
    lease.release();
    expect(fs.paths()).toEqual(["/"]);
  });

  it("of a live process is refused, saying who and what to do", async () => {
    const fs = new FaultFs();
    writeLease(fs, { pid: 7, host: "here", startTime: "noon" });
    const taking = takeLease(fs, owner(8, { 7: "noon", 8: "one" }), FILE, false);
    await expect(taking).rejects.toMatchObject({ code: "store/locked", exitCode: 6, data: { pid: 7, host: "here" } });
    await expect(taking).rejects.toThrow(/process 7 on here.*--take-over/);
  });

  it.each([
    ["a process that is gone", { pid: 7, host: "here", startTime: "noon" }, { 8: "one" }],
    ["a pid given out again", { pid: 7, host: "here", startTime: "noon" }, { 7: "later", 8: "one" }],
    ["our own pid, from an earlier process", { pid: 8, host: "here", startTime: "noon" }, { 8: "one" }],
  ])("of %s is taken over", async (_, content, running) => {
    const fs = new FaultFs();
    writeLease(fs, content);
    const lease = await takeLease(fs, owner(8, running), FILE, false);
    expect(leaseText(fs).pid).toBe(8);
    expect(fs.paths()).toEqual(["/", LOCK]);
    lease.release();
  });

  it("counts as held where the system does not tell start times", async () => {
    const fs = new FaultFs();
    writeLease(fs, { pid: 7, host: "here" });
    await expect(takeLease(fs, owner(8, { 7: "noon" }), FILE, false)).rejects.toMatchObject({ code: "store/locked" });
    writeLease(fs, { pid: 7, host: "here", startTime: "noon" });
    const silent = owner(8, { 7: undefined });
    await expect(takeLease(fs, silent, FILE, false)).rejects.toMatchObject({ code: "store/locked" });
  });

  it("of another host yields only to take-over", async () => {
    const fs = new FaultFs();
    writeLease(fs, { pid: 7, host: "there", startTime: "noon" });
    const here = owner(8, { 8: "one" });
    await expect(takeLease(fs, here, FILE, false)).rejects.toMatchObject({ data: { host: "there" } });
    const lease = await takeLease(fs, here, FILE, true);
    expect(leaseText(fs).host).toBe("here");
    lease.release();
  });

  it("of another program is refused, and kept when taken over", async () => {
    const fs = new FaultFs();
    fs.put(LOCK, "locked by another tool");
    const here = owner(8, { 8: "one" });
    await expect(takeLease(fs, here, FILE, false)).rejects.toThrow("another program");
    const lease = await takeLease(fs, here, FILE, true);
    const kept = fs.paths().find((path) => path.includes(".old-"))!;
    expect(fs.bytes(kept)!.toString()).toBe("locked by another tool");
    lease.release();
  });

  it("that a crash left empty holds nobody out", async () => {
    const fs = new FaultFs();
    fs.put(LOCK, "");
    (await takeLease(fs, owner(8, { 8: "one" }), FILE, false)).release();
    expect(fs.paths()).toEqual(["/"]);
  });

  it("works where there are no hard links", async () => {
    const fs = new FaultFs();
    fs.fault = ({ name }) => (name === "link" ? { kind: "error", code: "ENOTSUP" } : undefined);
    const running = { 7: "noon", 8: "one" };
    const lease = await takeLease(fs, owner(7, running), FILE, false);
    await expect(takeLease(fs, owner(8, running), FILE, false)).rejects.toMatchObject({ data: { pid: 7 } });
    lease.release();
    const log = await new JsonlStore({ fs, owner: owner(7, running) }).create(FILE, ["{}"]);
    await log.close();
    expect(fs.paths()).toEqual(["/", FILE]);
  });

  it("of a dead owner goes to exactly one of many takers", async () => {
    for (let takers = 2; takers <= 6; takers++) {
      const fs = new FaultFs();
      writeLease(fs, { pid: 1, host: "here", startTime: "dawn" });
      const running = Object.fromEntries(Array.from({ length: takers }, (_, n) => [n + 10, `start ${n}`]));
      const results = await Promise.allSettled(
        Object.keys(running).map((pid) => takeLease(fs, owner(Number(pid), running), FILE, false)),
      );
      const winners = results.filter((result) => result.status === "fulfilled");
      expect(winners).toHaveLength(1);
      winners[0]!.value.verify();
      winners[0]!.value.release();
      expect(fs.paths()).toEqual(["/"]);
    }
  });

  it("of a taker that was faster is put back by the slower one", async () => {
    const fs = new FaultFs();
    writeLease(fs, { pid: 1, host: "here", startTime: "dawn" });
    const running = { 7: "noon", 8: "one" };
    fs.fault = ({ name, path }) => {
      // Between the slower one's look and its move, the faster one has taken the dead lease over.
      if (name === "rename" && path.includes(".old-"))
        writeLease(fs, { pid: 7, host: "here", startTime: "noon", token: "f" });
      return undefined;
    };
    const slower = takeLease(fs, owner(8, running), FILE, false);
    await expect(slower).rejects.toMatchObject({ code: "store/locked", data: { pid: 7 } });
    expect(leaseText(fs)).toMatchObject({ pid: 7, token: "f" });
    expect(fs.paths()).toEqual(["/", LOCK]);
  });

  it("stolen meanwhile is noticed, and not given back in another's name", async () => {
    const fs = new FaultFs();
    const running = { 7: "noon", 8: "one" };
    const first = await takeLease(fs, owner(7, running), FILE, false);
    first.verify();
    const second = await takeLease(fs, owner(8, running), FILE, true);
    expect(() => first.verify()).toThrow(/process 8 on here.*nothing was written/);
    first.release();
    second.verify();
    second.release();
    expect(() => second.verify()).toThrow("written by");
  });
});

describe("owner", () => {
  it("knows itself by pid and start, the same each time", () => {
    const self = nodeOwner();
    const state = self.stateOf(process.pid);
    expect(state.alive).toBe(true);
    expect(self.stateOf(process.pid)).toEqual(state);
  });

  it.runIf(process.platform === "linux" || process.platform === "darwin")("tells start times here", () => {
    expect(nodeOwner().stateOf(process.pid)).toMatchObject({ alive: true, startedAt: expect.any(String) });
    expect(nodeOwner().stateOf(process.ppid)).not.toEqual(nodeOwner().stateOf(process.pid));
  });

  it("knows a process that ended", () => {
    const { pid } = spawnSync(process.execPath, ["-e", "0"]);
    expect(nodeOwner().stateOf(pid!)).toEqual({ alive: false });
  });
});

/**
 * What the files of the project must become when the head moves: snapshots of the branch that is left are taken back, those
 * of the other one are done again. Pure; must not look at a disk.
 */
import type { Node, SnapshotEntry, SnapshotFile } from "../entry.ts";
import type { PathNode } from "../view/view.ts";

/** Bytes of a file by their blob handle; null where there is none, undefined where they were not kept. */
export type FileState = { blob: string | null | undefined; mode?: number };

/** One file that differs between two heads. */
export interface FileStep {
  path: string;
  /** How the record says the file is now. */
  expected: FileState;
  /** How it is at the other head. */
  wanted: FileState;
  /** Somebody else changed the file between two snapshots: what they did would be lost. */
  isGapped: boolean;
}

const BLOB = /^blob:sha256:[0-9a-f]{64}$/;

/** The files to change on the way from `path` to `target`, by name. Both run from the root. */
export function fileSteps(path: readonly PathNode[], target: readonly PathNode[]): FileStep[] {
  let shared = 0;
  // By id: a copy of a session has the same entries elsewhere.
  while (shared < path.length && shared < target.length && path[shared]?.node.id === target[shared]?.node.id) shared++;
  const steps = new Map<string, FileStep>();
  const take = (file: SnapshotFile, from: FileState, to: FileState) => {
    const known = steps.get(file.path);
    if (!known) steps.set(file.path, { path: file.path, expected: from, wanted: to, isGapped: false });
    else {
      known.isGapped ||= known.wanted.blob !== from.blob;
      known.wanted = to;
    }
  };
  for (const { node } of path.slice(shared).reverse())
    for (const file of snapshotFiles(node)) take(file, stateOf(file, "after"), stateOf(file, "before"));
  for (const { node } of target.slice(shared))
    for (const file of snapshotFiles(node)) take(file, stateOf(file, "before"), stateOf(file, "after"));
  const isMoved = ({ expected, wanted }: FileStep) => expected.blob !== wanted.blob || wanted.blob === undefined;
  return [...steps.values()].filter(isMoved).sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Files that snapshots on the way counted without keeping them. */
export function filesLeftOut(path: readonly PathNode[], target: readonly PathNode[]): number {
  const here = new Set(path.map(({ node }) => node.id));
  const there = new Set(target.map(({ node }) => node.id));
  const between = [
    ...path.filter(({ node }) => !there.has(node.id)),
    ...target.filter(({ node }) => !here.has(node.id)),
  ];
  return between.reduce((sum, { node }) => {
    const left = node.type === "snapshot" ? node.left : undefined;
    return sum + (typeof left === "number" && left > 0 ? left : 0);
  }, 0);
}

/** The files of a snapshot that can be read; older writers and damaged lines have none. */
function snapshotFiles(node: Node): SnapshotFile[] {
  if (node.type !== "snapshot") return [];
  const { files } = node as SnapshotEntry;
  if (!Array.isArray(files)) return [];
  return files.filter((file) => typeof file === "object" && file !== null && typeof file.path === "string");
}

function stateOf(file: SnapshotFile, side: "before" | "after"): FileState {
  const blob = file[side];
  const mode = Array.isArray(file.modes) ? file.modes[side === "before" ? 0 : 1] : undefined;
  return {
    blob: blob === null || (typeof blob === "string" && BLOB.test(blob)) ? blob : undefined,
    ...(typeof mode === "number" && Number.isInteger(mode) ? { mode: mode & 0o777 } : {}),
  };
}

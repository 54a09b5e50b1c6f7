/* Types of setup.mjs, for its tests. */

export interface LockedPackage {
  integrity?: string;
  optional?: boolean;
  link?: boolean;
  os?: string[];
  cpu?: string[];
}

export const root: string;
export const stateFolder: string;

export class SetupFailure extends Error {
  exitCode: number;
}

export function ensureReady(options?: { quiet?: boolean }): void;
export function ensureInstalled(options?: { quiet?: boolean }): void;
export function ensureBuilt(options?: { quiet?: boolean }): void;
export function orExit<T>(step: () => T): T;
export function checkNode(version: string): void;
export function isInstalled(folder: string): boolean;
export function recordMatches(
  wanted: Record<string, LockedPackage>,
  installed: Record<string, LockedPackage>,
  machine?: { platform?: string; arch?: string },
): boolean;
export function npmCache(env?: Record<string, string | undefined>): string;
export function explainInstall(output: string, spawnError?: { code?: string }): string;
export function withLock(step: () => void, lock?: string): void;

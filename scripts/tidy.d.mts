/* Types of tidy.mjs, for its tests. */

export interface SourceText {
  path: string;
  text: string;
}

export interface Finding {
  rule: string;
  level: "error" | "hint";
  path: string;
  line: number;
  message: string;
}

export function inspect(files: SourceText[], exists: (path: string) => boolean): Finding[];
export function collect(root: string): SourceText[];

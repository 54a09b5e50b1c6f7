/** The tools of a coding agent: files, search, shell, todo, recall. */
export {};

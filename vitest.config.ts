import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url));
const rooms = ["core", "storage", "interop", "writers", "tools", "providers", "engine", "testkit", "cli"];

export default defineConfig({
  resolve: { alias: Object.fromEntries(rooms.map((room) => [`@stet/${room}`, source(room)])) },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", ...(process.env.STET_LONG ? [] : ["**/*.long.test.ts"])],
    // The long suite asks the same laws a thousand times as often.
    testTimeout: process.env.STET_LONG ? 1_200_000 : 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});

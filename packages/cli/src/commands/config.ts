/** `stet config`: settings with the source of each value. */
import { StetError } from "@stet/core";
import { type CommonOptions, print } from "../output.ts";
import { allSettings, setSetting, untrustedLine } from "../settings.ts";
import { SETTINGS } from "../settings-table.ts";

export interface ConfigOptions extends CommonOptions {
  project?: boolean;
}

/** Runs `list`, `get KEY`, `set KEY VALUE` or `check`; settings that cannot be read throw `config/invalid` (exit 2). */
export function config(
  action: string,
  key: string | undefined,
  value: string | undefined,
  options: ConfigOptions,
): number {
  const cwd = process.cwd();
  const usage = (message: string) => new StetError("config/usage", message, { exitCode: 2 });
  switch (action) {
    case "list": {
      const settings = allSettings(cwd);
      const lines = Object.entries(settings).map(
        ([name, { value, source }]) =>
          `${name} = ${String(value) || "none"} (${source}): ${SETTINGS[name]?.about ?? ""}`,
      );
      const untrusted = untrustedLine(cwd);
      print(options, { settings }, untrusted === undefined ? lines : [...lines, untrusted]);
      return 0;
    }
    case "get": {
      const found = key === undefined ? undefined : allSettings(cwd)[key];
      if (key === undefined || found === undefined)
        throw usage(`no such setting: ${key ?? "(none named)"}; see stet config list`);
      print(options, { settings: { [key]: found } }, [String(found.value)]);
      return 0;
    }
    case "set": {
      if (key === undefined || value === undefined)
        throw usage("a key and a value are needed: stet config set KEY VALUE");
      const file = setSetting(options.project ? "project" : "user", cwd, key, value);
      print(options, { settings: { [key]: allSettings(cwd)[key] }, file }, [file]);
      return 0;
    }
    case "check": {
      const settings = allSettings(cwd);
      const set = Object.values(settings).filter(({ source }) => source !== "default").length;
      print(options, { ok: true, settings }, [`ok: ${set} settings set`]);
      return 0;
    }
    default:
      throw usage(`no such action: ${action}; use list, get, set or check`);
  }
}

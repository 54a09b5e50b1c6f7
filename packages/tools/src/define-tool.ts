/** One way to make a tool: schema, check, and a body that gets clean arguments and may throw file errors. */
import type { Json, Tool, ToolContext, ToolOutcome, ToolPower } from "@stet/core";
import { type Arguments, checkArguments } from "./arguments.ts";
import { failed, fileTrouble } from "./outcome.ts";

export interface Definition {
  name: string;
  description: string;
  power: ToolPower;
  /** JSON Schema of each argument; those in `required` must be given. */
  properties: { [key: string]: { type: string; description?: string; items?: Json; enum?: string[] } };
  required: string[];
  run(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

/** The tool of a definition. Never rejects: what the body throws becomes an error result. */
export function defineTool({ name, description, power, properties, required, run }: Definition): Tool {
  const parameters = { type: "object", properties: properties as unknown as Json, required };
  const spec = { name, description, parameters };
  return {
    spec,
    power,
    async run(given, context) {
      const checked = checkArguments(spec, given);
      if ("wrong" in checked) return failed(checked.wrong);
      if (context.signal.aborted) return failed("cancelled");
      try {
        return await run(checked.args, context);
      } catch (error) {
        return fileTrouble(error, String(checked.args.path ?? name));
      }
    },
  };
}

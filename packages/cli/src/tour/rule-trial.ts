/** A rule of the visitor's own, through ten compactions of the recorded session. */
import type { Node } from "@stet/core";
import { rewrite, type Session } from "@stet/engine";
import { LOCAL_WRITER } from "../compose.ts";
import { requestText } from "./request.ts";

export const COMPACTIONS = 10;
const WINDOW = 16_000;

export interface RuleTrial {
  compactions: number;
  /** Whether the words stand in the next request. */
  isInRequest: boolean;
  /** Heading of the note they stand under; undefined when only the message itself, or nothing, is there. */
  heading: string | undefined;
  handle: string;
}

/** Says `rule` as the user, then lets the recorded work go on and compacts, ten times. `session` must be writable. */
export async function tryRule(session: Session, rule: string): Promise<RuleTrial> {
  const work = session.suffix.nodes.map((p) => p.node).filter((node) => node.type === "message");
  const [said] = await session.append([messageDraft({ role: "user", content: [{ type: "text", text: rule }] })]);
  await session.append([messageDraft({ role: "assistant", content: [{ type: "text", text: "Understood." }] })]);
  let compactions = 0;
  for (let i = 0; i < COMPACTIONS; i++) {
    await session.append(work.map((node: Node) => messageDraft((node as { message: object }).message)));
    const outcome = await rewrite(session, {
      trigger: "manual",
      writer: LOCAL_WRITER,
      window: WINDOW,
      prepareToWrite: async () => {},
    });
    if (outcome.outcome === "committed") compactions++;
  }
  const request = requestText(session);
  return {
    compactions,
    isInRequest: request.includes(rule),
    heading: headingAbove(request, rule),
    handle: `${session.header.id}:${said?.id}`,
  };
}

const messageDraft = (message: object) => ({ type: "message" as const, fields: { message } });

function headingAbove(request: string, words: string): string | undefined {
  const at = request.indexOf(words);
  if (at < 0) return undefined;
  return [...request.slice(0, at).matchAll(/^#{2,3} (.+)$/gm)].at(-1)?.[1];
}

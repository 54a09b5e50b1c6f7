/** The request the tour judges: the next one, as a provider would get it. */
import { createHash } from "node:crypto";
import { buildRequest, type ProviderFamily, validateRequest } from "@stet/core";
import { ESTIMATOR, frameFor, type Session } from "@stet/engine";

export function requestFor(session: Session, family: ProviderFamily) {
  return buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR }).body;
}

/** Every text in the request, one below the other. */
export function requestText(session: Session): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) collect(part);
  };
  collect(requestFor(session, "anthropic"));
  return texts.join("\n");
}

/** First 16 hex digits of the request's SHA-256. */
export function requestHash(session: Session): string {
  return createHash("sha256")
    .update(JSON.stringify(requestFor(session, "anthropic")))
    .digest("hex")
    .slice(0, 16);
}

/** Rules of `family` the request breaks. */
export function violationsOf(session: Session, family: ProviderFamily): number {
  return validateRequest(family, requestFor(session, family)).length;
}

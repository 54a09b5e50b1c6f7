/** The end of a round: extensions have heard what they were told, and what they asked models is on record. */
import type { Session } from "../session.ts";

/** Waits until everything told was heard, or `signal` aborts; then records the calls made meanwhile. For writable sessions. */
export async function settleHooks(session: Session, signal?: AbortSignal): Promise<void> {
  const { hooks } = session.ports;
  if (!hooks) return;
  await hooks.settled(signal);
  const calls = hooks.takeCalls(session);
  if (calls.length > 0) await session.append(calls.map((call) => ({ type: "usage", fields: { ...call } })));
}

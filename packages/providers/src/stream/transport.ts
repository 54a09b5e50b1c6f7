/**
 * What every wire needs from a transport: options, a patient fetch, and refusals kept whole on their way through an SDK.
 * Must not read answers.
 */

/** How a vendor is reached. */
export interface TransportOptions {
  /** None, or the empty text, for servers that ask for none. */
  apiKey?: string;
  /** Up to and without the wire's own path. */
  baseUrl?: string;
  /** Sent with every request; they win over the wire's own. */
  headers?: Readonly<Record<string, string>>;
  /** Default: the platform's, without its five-minute limits. */
  fetch?: typeof fetch;
}

/** The SDKs' own limit, far above any answer; a stuck call is ended by its signal. */
export const SDK_TIMEOUT_MS = 60 * 60 * 1000;

const DISPATCHER = Symbol.for("undici.globalDispatcher.1");
type Dispatcher = { constructor: new (options: object) => Dispatcher };
let patient: { insteadOf: Dispatcher; dispatcher: Dispatcher } | undefined;

/**
 * The platform's fetch. Node's gives up after five minutes without a byte, and a local model may read a long prompt for
 * longer; the same kind of dispatcher without those limits takes its place, where the one in use is of a known kind.
 */
export const patientFetch: typeof fetch = (input, init) => {
  const dispatcher = patientDispatcher();
  return fetch(input, dispatcher === undefined ? init : ({ ...init, dispatcher } as RequestInit));
};

/** The dispatcher {@link patientFetch} uses; undefined where the platform's own is used as it is. */
export function patientDispatcher(): object | undefined {
  // The platform sets its dispatcher up when this name is first looked at.
  if (typeof Response === "undefined") return undefined;
  const current = (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER];
  if (current === undefined || !["Agent", "EnvHttpProxyAgent"].includes(current.constructor.name)) return undefined;
  if (patient?.insteadOf !== current) {
    patient = { insteadOf: current, dispatcher: new current.constructor({ headersTimeout: 0, bodyTimeout: 0 }) };
  }
  return patient.dispatcher;
}

/**
 * `send` with a fetch that hands its response out directly. The SDKs turn a refusal into an exception and drop parts of
 * the body on the way (`{"detail": …}`, plain text); the caller judges the response itself.
 */
export async function throughSdk(
  options: TransportOptions,
  send: (fetchLike: typeof fetch) => Promise<Response>,
): Promise<Response> {
  const base = options.fetch ?? patientFetch;
  let refusal: Response | undefined;
  try {
    return await send(async (input, init) => {
      const response = await base(input, init);
      if (response.ok) return response;
      refusal = response;
      // The SDK reads this one.
      return new Response(null, { status: response.status });
    });
  } catch (error) {
    if (refusal) return refusal;
    throw error;
  }
}

/** `baseUrl` without slashes at its end. */
export function trimUrl(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "");
}

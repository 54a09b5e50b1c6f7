/** OpenAI's SDK as transport, for both of its wires. Must not read answers. */
import { SDK_TIMEOUT_MS, type TransportOptions, throughSdk, trimUrl } from "./transport.ts";

/** How the credential travels. */
export type OpenaiAuth = "bearer" | "api-key";

/** One post. */
export interface OpenaiPost extends TransportOptions {
  baseUrl: string;
  auth: OpenaiAuth;
  path: string;
  body: { [key: string]: unknown };
  /** Headers that keep a session on one server. */
  routing: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Posts `body` as it is; the response whatever its status. Without `apiKey` no credential is sent. */
export async function postOpenai(post: OpenaiPost): Promise<Response> {
  const { default: OpenAI } = await import("openai");
  return throughSdk(post, async (fetchLike) => {
    const client = new OpenAI({
      apiKey: post.apiKey || "none",
      adminAPIKey: null,
      organization: null,
      project: null,
      baseURL: trimUrl(post.baseUrl),
      fetch: fetchLike,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      logLevel: "off",
    });
    const { apiKey, auth, path, body, signal } = post;
    const bearer = apiKey && auth === "bearer" ? {} : { Authorization: null };
    const key = apiKey && auth === "api-key" ? { "api-key": apiKey } : {};
    const headers = { ...bearer, ...key, ...post.routing, ...post.headers };
    return client.post(path, { body, headers, signal, stream: true }).asResponse();
  });
}

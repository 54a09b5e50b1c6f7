/** A local summary endpoint: records what it is asked, answers what a test wants. Bound to 127.0.0.1. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A running endpoint. */
export interface EndpointServer {
  url: string;
  requests: { headers: IncomingHttpHeaders; body: { [key: string]: unknown } }[];
  close(): Promise<void>;
}

/** Starts one at `path`; `answer` is asked for status and body, and one that gives nothing never answers. */
export async function startEndpointServer(
  path: string,
  answer: (body: { [key: string]: unknown }) => { status?: number; body: string } | undefined,
): Promise<EndpointServer> {
  const requests: EndpointServer["requests"] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    requests.push({ headers: request.headers, body });
    const given = request.url === path ? answer(body) : { status: 404, body: "no such address" };
    if (!given) return;
    response.writeHead(given.status ?? 200, { "content-type": "application/json" });
    response.end(given.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

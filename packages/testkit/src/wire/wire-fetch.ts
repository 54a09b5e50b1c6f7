/** A fetch without a network whose response arrives in exactly the chunks a test wants. Must not read or judge anything. */

/** How the bytes arrive and how they end. */
export interface WireDelivery {
  bytes: Uint8Array;
  /** Places to split at, rising. */
  splits?: readonly number[];
  /** After the bytes the stream closes, breaks, or says nothing more. */
  ending?: "close" | "error" | "stall";
  status?: number;
  headers?: Readonly<Record<string, string>>;
}

/** A `fetch` that answers every request with `delivery`. It ignores the request's signal, as a broken transport would. */
export function wireFetch(delivery: WireDelivery): typeof fetch {
  const { bytes, splits = [], ending = "close", status = 200, headers = {} } = delivery;
  return async () => {
    const edges = [...new Set([0, ...splits, bytes.length])];
    const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else if (ending === "close") controller.close();
        else if (ending === "error") controller.error(new Error("socket hang up"));
        else return new Promise(() => undefined);
      },
    });
    return new Response(body, { status, headers: { "content-type": "text/event-stream", ...headers } });
  };
}

/**
 * Images give way when they are too many, too many bytes or too many pixels for a request: the oldest first, each leaving a
 * handle. Pure; never an image of the newest user message.
 */
import type { EntryId } from "../entry.ts";
import type { ImageBlock } from "../message.ts";
import type { Stub } from "../replacement.ts";
import type { View } from "../view/view.ts";

export interface ImageLimits {
  count: number;
  /** Base64 characters of all images together. */
  bytes: number;
  newestUserId: EntryId | undefined;
  handleOf(id: EntryId): string;
}

/** Stubs for the oldest images until the rest is within the limits. */
export function dropImages(view: View, limits: ImageLimits): Stub[] {
  const images = view.segments.flatMap((segment) => {
    if (segment.kind !== "verbatim") return [];
    const { node } = segment;
    const content =
      node.type === "custom_message"
        ? node.content
        : node.type === "message" && "content" in node.message
          ? node.message.content
          : [];
    if (!Array.isArray(content)) return [];
    return content.flatMap((block, at) =>
      block?.type === "image" ? [{ id: node.id, block: at, bytes: (block as ImageBlock).data.length }] : [],
    );
  });
  let count = images.length;
  let bytes = images.reduce((sum, image) => sum + image.bytes, 0);
  const stubs: Stub[] = [];
  for (const image of images) {
    if (count <= limits.count && bytes <= limits.bytes) break;
    if (image.id === limits.newestUserId) continue;
    count--;
    bytes -= image.bytes;
    const words = `[image left out; ${limits.handleOf(image.id)}]`;
    stubs.push({ placement: "stub", entry: image.id, block: image.block, content: [{ type: "text", text: words }] });
  }
  return stubs;
}

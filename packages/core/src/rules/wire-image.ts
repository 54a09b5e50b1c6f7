/** Images as they stand on a wire: base64 text and data URLs. Must not decode them. */

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_URL = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

/** Whether `value` is non-empty base64 text, without line breaks and without a `data:` prefix. Missing padding passes: some servers take it. */
export function isBase64(value: unknown): value is string {
  return typeof value === "string" && BASE64.test(value);
}

/** Whether `value` is an http(s) address or a data URL of a PNG, JPEG, GIF or WebP image. */
export function isImageUrl(value: unknown): value is string {
  if (typeof value !== "string") return false;
  if (/^https?:\/\/\S+$/.test(value)) return true;
  const head = DATA_URL.exec(value);
  return head !== null && isBase64(value.slice(head[0].length));
}

/** What an exception of a request says: the causes beneath it, and what it usually comes from. Must not classify. */

/** What a refused connection usually comes from. */
const REMEDIES: Record<string, string> = {
  ECONNREFUSED: "is the server running, and is its base URL right?",
  ENOTFOUND: "check the base URL and the network",
  EAI_AGAIN: "check the base URL and the network",
  ERR_SSL_WRONG_VERSION_NUMBER: "the base URL says https, and the server speaks http",
  DEPTH_ZERO_SELF_SIGNED_CERT: "name the certificate in NODE_EXTRA_CA_CERTS",
  SELF_SIGNED_CERT_IN_CHAIN: "name the certificate in NODE_EXTRA_CA_CERTS",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "name the certificate in NODE_EXTRA_CA_CERTS",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "name the certificate in NODE_EXTRA_CA_CERTS",
  CERT_HAS_EXPIRED: "renew the server's certificate, or check this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host; check the base URL",
};

/** `1401:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/…:354:` says one thing. */
const OPENSSL = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):[\s\S]*$/;

/** `fetch failed` says nothing; what lies beneath it does, and often what to do. */
export function connectionText(error: unknown): string {
  const texts: string[] = [];
  let remedy: string | undefined;
  for (let at: unknown = error; at instanceof Error && texts.length < 4; at = at.cause) {
    const code = (at as { code?: unknown }).code;
    const text = (at.message === "" && typeof code === "string" ? code : at.message).trim().replace(OPENSSL, "$1");
    if (text !== "" && !texts.includes(text)) texts.push(text);
    if (typeof code === "string" && Object.hasOwn(REMEDIES, code)) remedy ??= REMEDIES[code];
  }
  const told = texts.length > 0 ? texts.join(": ") : String(error);
  return remedy === undefined ? told : `${told} (${remedy})`;
}

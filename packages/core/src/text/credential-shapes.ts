/**
 * Credentials that show by their own shape, whatever stands around them: vendor prefixes, key blocks, headers, URIs,
 * command lines. Finds spans of values; replaces nothing. Labelled values (`password: …`) are the neighbour's job.
 */

/** Part of a text that holds a credential value; `end` exclusive, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/** Words beginning with one of `prefixes` are credentials when `rest` matches right behind the prefix. */
interface PrefixShape {
  prefixes: readonly string[];
  rest: RegExp;
}

const shape = (prefixes: string, rest: RegExp): PrefixShape => ({ prefixes: prefixes.split(" "), rest });

/**
 * Patterns are sticky and tried only where a word begins, so they run once per word; where a pattern may scan far and
 * then refuse, its reach is bounded. Lengths are lower bounds of what the vendors issue, less some room for cut values.
 */
const PREFIX_SHAPES: readonly PrefixShape[] = [
  shape("sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf-", /[\w-]{8,}/y), // Anthropic, OpenAI, OpenRouter, Langfuse
  shape("sk-", /[A-Za-z0-9]{20,}[\w-]*|(?=[A-Za-z_-]{0,64}[0-9])[\w-]{12,}/y), // OpenAI and the many that copied it
  shape("sk_live_ sk_test_ rk_live_ rk_test_ whsec_", /[A-Za-z0-9_+/]{10,}=*/y), // Stripe
  shape("sk_", /(?=[A-Za-z]{0,64}[0-9])[A-Za-z0-9]{16,}/y),
  shape("ghp_ gho_ ghu_ ghs_ ghr_", /[A-Za-z0-9]{16,}/y), // GitHub
  shape("github_pat_", /\w{20,}/y),
  shape("glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glagent- glimt-", /[\w.-]{16,}/y), // GitLab
  shape("xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe. xoxc- xoxd- xapp-", /[\w.%-]{10,}/y), // Slack
  // An AWS access key, together with the secret where the two stand side by side as in a downloaded table.
  shape("AKIA ASIA ABIA ACCA", /[A-Z0-9]{16}(?![A-Za-z0-9])(?:[,\s|:]{1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?/y),
  shape("ABSK", /[A-Za-z0-9+/]{80,}=*/y), // Bedrock
  shape("AIza", /[\w-]{20,}/y), // Google
  shape("ya29.", /[\w.-]{20,}/y),
  shape("GOCSPX-", /[\w-]{20,}/y),
  shape("1//0", /[\w-]{30,}/y),
  shape(
    "hf_ gsk_ r8_ sgp_ ntn_ figd_ fw_ rpa_ lin_api_ lin_oauth_ phx_ nvapi- tvly- pplx- xai- jina_",
    /[A-Za-z0-9_-]{20,}/y,
  ),
  shape("npm_", /[A-Za-z0-9]{30,}/y),
  shape("pypi-", /[\w-]{32,}/y),
  shape("SG.", /[\w-]{16,}\.[\w-]{16,}/y), // SendGrid
  shape("SK AC", /[0-9a-f]{32}(?![A-Za-z0-9])/y), // Twilio
  shape("dop_v1_ doo_v1_ dor_v1_", /[0-9a-f]{32,}/y), // DigitalOcean
  shape("gAAAAA", /[\w-]{20,}={0,2}/y), // Fernet
  shape("AGE-SECRET-KEY-1", /[A-Z0-9]{30,}/y),
  shape("dapi", /[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])/y), // Databricks
  shape("secret_", /[A-Za-z0-9]{40,}/y), // Notion
  shape("sk. tk.", /eyJ[\w-]{10,}\.[\w-]{10,}/y), // Mapbox
  shape("sq0atp- sq0csp- sq0idp-", /[\w-]{20,}/y), // Square
  shape("EAAAE EAAAl", /(?<![+/]EAAA.)(?=[A-Za-z_-]{0,64}[0-9])[\w-]{50,}/y),
  shape("shpat_ shpca_ shppa_ shpss_", /[0-9a-fA-F]{32}/y), // Shopify
  shape("hvs. hvb. hvr.", /[\w-]{20,}/y), // Vault
  shape("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", /[\w.-]{20,}/y), // Doppler
  shape("PMAK-", /[0-9a-f]{24}-[0-9a-f]{34}/y), // Postman
  shape("ATATT3 ATCTT3 ATBB", /[\w=-]{20,}/y), // Atlassian
  shape("NRAK- NRJS- HRKU- CFPAT- xkeysib- sntrys_ sntryu_ dckr_pat_ glsa_ glc_ sbp_ pul-", /[\w+/-]{20,}=*/y),
  shape(
    "rubygems_ lsv2_pt_ lsv2_sk_ pscale_tkn_ pscale_pw_ pscale_oauth_ ops_eyJ fm2_ fo1_ tskey-auth- tskey-api-",
    /[\w.=+/-]{20,}/y,
  ),
  shape("key-", /[0-9a-f]{32}(?![A-Za-z0-9])/y), // Mailgun
  shape("v1.0-", /[0-9a-f]{24}-[0-9a-f]{100,}/y), // Cloudflare
  shape("pat", /[A-Za-z0-9]{14}\.[0-9a-f]{64}/y), // Airtable
  shape("eyJ", /[\w-]{6,400}\.[\w-]{6,8000}\.[\w-]{0,2000}/y), // JSON web token
];

/**
 * A pattern over the whole text. All of a match is the value, unless it has two groups: then the first stays and the
 * second, at its end, is the value. A group `before` looks behind and adds what it saw.
 */
interface PhraseShape {
  /** At least one must occur in the lower-cased text before the pattern is worth running. */
  needles: readonly string[];
  pattern: RegExp;
  accept?: (value: string) => boolean;
}

/** Values that only point to a credential: variables, templates, placeholders in brackets, stars, dots. */
const REFERENCE =
  /^(?:[$%<{*]|\.{2,}|…|#\{|\\?\$\{|\[REDACTED\]$|x{3,}$|process\.env|os\.(?:environ|getenv)|env[.:([])/i;

/** Whether `value` only refers to a credential kept elsewhere, or is our own placeholder. */
export function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

const isLiteral = (value: string): boolean => !isReference(value);
const looksRandom = (value: string): boolean =>
  /\d/.test(value) || value.length >= 24 || /[a-z][A-Z]/.test(value) || /[a-z].*[+/=~]/.test(value);

const PHRASE_SHAPES: readonly PhraseShape[] = [
  // Whole key blocks; one cut off at either end is taken as far as its lines go. `\n` may be written out, as in JSON.
  {
    needles: ["private key"],
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----)[\w+/=\\:,;.()\s-]){0,20000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:\\+[nr]|[\w+/=\s]){0,20000})/g,
  },
  {
    needles: ["private key"],
    pattern:
      /-----END(?<=(?<before>(?:[A-Za-z0-9+/=]{16,76}(?:\r?\n|\\+r?\\*n)){0,200})-----END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g,
  },
  { needles: ["private-lines"], pattern: /(Private-Lines: \d{1,4}\s{1,4})([\w+/=\s]{1,20000}?)(?=Private-MAC|$)/g },
  // scheme://user:password@host, and scheme://token@host.
  {
    needles: ["://"],
    pattern: /(:\/\/[^\s:@/"'`<>\\]{0,128}:)([^\s/"'`<>\\]{1,256})(?=@[\w[.-])/g,
    accept: isLiteral,
  },
  { needles: ["://"], pattern: /(:\/\/)([\w.~-]{20,256})(?=@[\w[.-])/g, accept: (value) => /\d/.test(value) },
  {
    needles: ["hooks.slack.com", "/api/webhooks/", "webhook.office.com"],
    pattern:
      /((?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com\/webhookb2)\/)([\w/@-]{16,512})/gi,
  },
  {
    needles: ["authorization"],
    pattern:
      /(authorization\\*["'`]?\]?[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}\\*["'`]?(?:bearer|basic|token|digest|apikey|api-key|key|negotiate|ntlm|splunk|sso-key|genie-?key)[ \t]{1,4})([^\s"'`\\,;<>(){}]{4,8192})/gi,
    accept: isLiteral,
  },
  {
    needles: ["authorization"],
    pattern: /(authorization\\*["'`]?\]?[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}\\*["'`]?)([^\s"'`\\,;<>(){}]{12,8192})/gi,
    accept: (value) => isLiteral(value) && /\d/.test(value) && !/^[\w$]+(?:\.[\w$]+)+$/.test(value),
  },
  {
    needles: ["bearer"],
    pattern:
      /(bearer(?<=(?:^|[^A-Za-z0-9]|\\[nrt]|%[\dA-F]{2}|\[[\d;]{1,8}m)bearer)(?:[ \t]{1,4}|%20|\+))([\w.~+/=-]{8,8192})/gi,
    accept: (value) => isLiteral(value) && looksRandom(value) && !/^[-=.]/.test(value),
  },
  {
    needles: ["basic "],
    pattern:
      /(basic(?<=(?:^|[^A-Za-z0-9]|\\[nrt])basic)[ \t]{1,4})((?:[A-Za-z0-9+/]{4}){2,512}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)(?![\w+/])/gi,
    accept: (value) =>
      value.length >= 12 &&
      (/=$/.test(value) ||
        (/[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)) ||
        /[a-z][A-Z].*[a-z][A-Z]/.test(value)),
  },
  {
    needles: [
      "access_token",
      "token=",
      "key=",
      "auth=",
      "sig=",
      "signature=",
      "secret=",
      "password=",
      "pwd=",
      "x-amz-",
      "code=",
    ],
    pattern:
      /([?&;](?:access_token|refresh_token|id_token|auth_token|token|api_?key|password|pwd|client_secret|secret|x-amz-signature|x-amz-security-token|x-goog-signature|subscription-key)=)([^\s&#"'`<>\\,;)}\]]{3,8192})/gi,
    accept: (value) => isLiteral(value) && !/^[a-z]+$/.test(value.slice(0, 40)),
  },
  {
    needles: ["key=", "auth=", "sig=", "signature=", "code="],
    pattern: /([?&;](?:key|auth|sig|signature|code)=)([^\s&#"'`<>\\,;)}\]]{16,8192})/gi,
    accept: (value) => isLiteral(value) && /\d/.test(value),
  },
  { needles: [":aa"], pattern: /(?<=^|[^\w-]|\\[nrt]|%[\dA-F]{2}|\[[\d;]{1,8}m|bot)\d{8,10}:AA[\w-]{32,36}(?![\w-])/g }, // Telegram
  {
    needles: ["."],
    pattern:
      /[MNO](?<=(?:^|[^\w.-]|\\[nrt]|%[\dA-F]{2}|\[[\d;]{1,8}m)[MNO])[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g,
    accept: (value) => /\d/.test(value),
  }, // Discord
  {
    needles: ["-u", "--user", "--proxy-user"],
    pattern:
      /((?:curl|wget|https?|xh)(?=[ \t])[^\n]{0,400}?[ \t](?:-u|--user|--proxy-user)(?:[ \t]{0,4}|=)\\*["']?[^\s:"'\\]{1,128}:)([^\s"'\\]{1,256})/g,
    accept: isLiteral,
  },
  {
    needles: ["mysql", "mariadb"],
    pattern: /((?:mysql|mariadb)(?:dump|admin|import)?(?=[ \t])[^\n]{0,200}?[ \t]-p)([^\s"'\\=]{3,128})/g,
    accept: isLiteral,
  },
  { needles: ["sshpass"], pattern: /(sshpass[ \t]{1,4}-p[ \t]{0,4}\\*["']?)([^\s"'\\]{2,128})/g, accept: isLiteral },
  {
    needles: ["docker login", "podman login", "helm registry login"],
    pattern:
      /((?:docker|podman|registry)[ \t]{1,4}login(?=[ \t])[^\n]{0,200}?[ \t]-p[ \t]{1,4}\\*["']?)([^\s"'\\]{3,256})/g,
    accept: isLiteral,
  },
  {
    needles: ["login "],
    pattern: /(login\s{1,8}[^\s]{1,128}\s{1,8}password\s{1,8})([^\s"'\\]{1,256})/gi,
    accept: isLiteral,
  }, // .netrc
  {
    needles: ["identified by", "password '", "password e'"],
    pattern: /((?:identified\s{1,4}by|password)\s{1,4}(?:e)?')([^'\n]{1,256})(?=')/gi,
    accept: isLiteral,
  }, // SQL
  {
    needles: ["auth"], // docker's config
    pattern: /(\\*["']auth\\*["']\s{0,4}:\s{0,4}\\*["'])([A-Za-z0-9+/]{12,4096}={0,2})(?=\\*["'])/g,
  },
  {
    needles: ["requirepass", "masterauth"],
    pattern: /((?:requirepass|masterauth)[ \t]{1,8}["']?)([^\s"']{3,256})/g,
    accept: isLiteral,
  }, // Redis
  { needles: [":5432:"], pattern: /(:5432:[\w*.-]{1,64}:[\w*.-]{1,64}:)(\S{1,128})/g, accept: isLiteral }, // .pgpass
  {
    needles: ["securestring"],
    pattern: /(ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?\\*["'])([^"'\\\n]{1,256})/gi,
    accept: isLiteral,
  },
  {
    needles: [
      "密码",
      "密碼",
      "口令",
      "密钥",
      "パスワード",
      "비밀번호",
      "암호",
      "пароль",
      "contraseña",
      "senha",
      "passwort",
      "kennwort",
      "mot de passe",
    ],
    pattern:
      /((?:密码|密碼|口令|密钥|パスワード|비밀번호|암호|пароль|contraseña|senha|passwort|kennwort|mot de passe)\\*["'」]?\s{0,2}(?:[:=：＝]|是|为|為|は|ist|est|es|é)\s{0,2}\\*["'「『“]?)([^\s"'`\\，。；、」』”)）]{4,256})/gi,
    accept: (value) => isLiteral(value) && /[A-Za-z0-9]/.test(value) && /[0-9!@#%^*?]/.test(value),
  },
];

/** Attributes of a cookie that are not its value. */
const COOKIE_ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|version|priority)=$/i;
const COOKIE_HEADER =
  /(?<=^|[^\w.]|\\[nrt]|\[[\d;]{1,8}m)(?:set-)?cookie2?\\*["'`]?[ \t]{0,2}[:,=][ \t]{0,2}\\*["'`]?/gi;
const COOKIE_PAIR =
  /([\w.%-]{1,64}=)([^\s;,"'`\\]{0,8192})(?:;[ \t]{0,2}(?:secure|httponly|partitioned)\b)*(?:;[ \t]{0,2})?/iy;

const SHAPES_BY_START = byStart(PREFIX_SHAPES);

/** Spans of all values in `text` that show by their shape, unsorted, possibly overlapping. `lower` is `text` in lower case. */
export function findShapes(text: string, lower: string): Span[] {
  const spans: Span[] = [];
  findPrefixed(text, spans);
  for (const phrase of PHRASE_SHAPES) {
    if (phrase.needles.some((needle) => lower.includes(needle))) findPhrases(text, phrase, spans);
  }
  if (lower.includes("cookie")) findCookies(text, spans);
  return spans;
}

function findPhrases(text: string, { pattern, accept }: PhraseShape, spans: Span[]): void {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const before = match.groups?.before;
    const lead = before === undefined && match[2] !== undefined ? match[1]!.length : 0;
    const start = match.index + lead - (before?.length ?? 0);
    const end = match.index + match[0].length;
    if (accept === undefined || accept(text.slice(start, end))) spans.push({ start, end });
  }
}

function findCookies(text: string, spans: Span[]): void {
  COOKIE_HEADER.lastIndex = 0;
  for (let header = COOKIE_HEADER.exec(text); header !== null; header = COOKIE_HEADER.exec(text)) {
    COOKIE_PAIR.lastIndex = COOKIE_HEADER.lastIndex;
    for (let pair = COOKIE_PAIR.exec(text); pair !== null; pair = COOKIE_PAIR.exec(text)) {
      COOKIE_HEADER.lastIndex = COOKIE_PAIR.lastIndex;
      const [, name, value] = pair;
      if (value!.length < 4 || isReference(value!) || COOKIE_ATTRIBUTE.test(name!)) continue;
      const start = pair.index + name!.length;
      spans.push({ start, end: start + value!.length });
    }
  }
}

/** One pass over the words of `text`; a word begins at a letter or digit behind anything else. */
function findPrefixed(text: string, spans: Span[]): void {
  let inWord = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!isWordUnit(code)) {
      inWord = false;
      continue;
    }
    if (inWord) continue;
    inWord = true;
    const end = matchAt(text, i) || matchAt(text, behindEscape(text, i));
    if (end === 0) continue;
    spans.push({ start: lastStart, end });
    i = end - 1;
    inWord = false;
  }
}

/** Where the last successful {@link matchAt} began; kept aside so that the scan allocates nothing per word. */
let lastStart = 0;

function matchAt(text: string, at: number): number {
  const shapes = SHAPES_BY_START.get(startKey(text.charCodeAt(at), text.charCodeAt(at + 1)));
  if (shapes === undefined) return 0;
  for (const { prefix, rest } of shapes) {
    if (!text.startsWith(prefix, at)) continue;
    rest.lastIndex = at + prefix.length;
    if (!rest.test(text)) continue;
    lastStart = at;
    return rest.lastIndex;
  }
  return 0;
}

/**
 * The word at `at` may begin with the tail of an escape: `\nghp_…` in JSON text, `%3Dghp_…` in a URL, `\u001b[32mghp_…` in
 * coloured output. Returns where the real word begins, or `at`.
 */
function behindEscape(text: string, at: number): number {
  const before = text[at - 1];
  if (before === "\\" && "nrtbf".includes(text[at]!)) return at + 1;
  if (before === "%") return at + 2;
  if (before === "[" || before === ";") {
    ANSI_TAIL.lastIndex = at;
    if (ANSI_TAIL.test(text)) return ANSI_TAIL.lastIndex;
  }
  return at;
}

const ANSI_TAIL = /\d{1,3}m/y;

function isWordUnit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);
}

function startKey(first: number, second: number): number {
  return first * 0x10000 + second;
}

function byStart(shapes: readonly PrefixShape[]): Map<number, { prefix: string; rest: RegExp }[]> {
  const map = new Map<number, { prefix: string; rest: RegExp }[]>();
  for (const { prefixes, rest } of shapes) {
    for (const prefix of prefixes) {
      const key = startKey(prefix.charCodeAt(0), prefix.charCodeAt(1));
      map.set(key, [...(map.get(key) ?? []), { prefix, rest }]);
    }
  }
  return map;
}

/**
 * Made-up credentials in every shape the redactor knows, for tests only. Each is put together at run time, so that no
 * line of this file looks like a credential to a scanner. None was ever issued.
 */

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HEX = "0123456789abcdef";
const ALNUM = `${LETTERS}0123456789`;

/** `length` characters of `alphabet`, the same for the same arguments, never the same for two seeds. */
function chars(length: number, seed: number, alphabet = ALNUM): string {
  let state = seed * 2654435761 + length;
  let text = "";
  while (text.length < length) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    text += alphabet[(state >>> 16) % alphabet.length];
  }
  return text;
}

/** One credential as it is met: `text` holds `secret`; whatever of `text` is not the secret stays or goes as it may. */
export interface Sample {
  name: string;
  text: string;
  secret: string;
}

let seed = 0;
/** A word that is the credential: `prefix` (dots stand for nothing) and a body. */
function word(name: string, prefix: string, length: number, alphabet = ALNUM, tail = ""): Sample {
  const secret = prefix.replaceAll("·", "") + chars(length, ++seed, alphabet) + tail;
  return { name, text: secret, secret };
}

/** A phrase in which `§` stands for the credential. */
function phrase(name: string, template: string, secret = `${chars(9, ++seed)}7aZ${chars(6, ++seed)}`): Sample {
  return { name, text: template.replaceAll("·", "").replace("§", () => secret), secret };
}

const PEM_BODY = `${chars(64, 901)}\n${chars(64, 902)}\n${chars(40, 903)}==`;
const pem = (kind: string): string =>
  `-----BEGIN ${kind}PRIV·ATE KEY-----\n${PEM_BODY}\n-----END ${kind}PRIV·ATE KEY-----`.replaceAll("·", "");
const jwt = `ey·J${chars(20, 910)}.eyJ${chars(40, 911)}.${chars(43, 912)}`.replaceAll("·", "");

/** Credentials that are one word: found wherever a word may stand, in URLs too. */
export const WORD_SAMPLES: readonly Sample[] = [
  word("OpenAI", "sk·-", 48),
  word("OpenAI project", "sk·-proj-", 60, `${ALNUM}_-`, "x"),
  word("Anthropic", "sk·-ant-api03-", 80, `${ALNUM}_-`, "AA"),
  word("OpenRouter", "sk·-or-v1-", 64, HEX),
  word("Stripe live", "sk·_live_", 24),
  word("Stripe test", "rk·_test_", 24),
  word("Stripe webhook", "wh·sec_", 32),
  word("GitHub classic", "gh·p_", 36),
  word("GitHub OAuth", "gh·o_", 36),
  word("GitHub user", "gh·u_", 36),
  word("GitHub server", "gh·s_", 36),
  word("GitHub refresh", "gh·r_", 36),
  word("GitHub fine-grained", "github·_pat_", 70, `${ALNUM}_`, "a"),
  word("GitLab", "gl·pat-", 20),
  word("Slack bot", "xo·xb-1234567890-", 24),
  word("Slack user", "xo·xp-1234567890-", 24),
  word("AWS access key", "AK·IA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
  word("AWS session key", "AS·IA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
  word("Google API", "AI·za", 35),
  word("Google OAuth secret", "GOC·SPX-", 28),
  word("Google access token", "ya·29.", 60),
  word("Hugging Face", "h·f_", 34, LETTERS),
  word("npm", "np·m_", 36),
  word("PyPI", "py·pi-AgEIcHlwaS5vcmc", 80),
  word("SendGrid", "S·G.", 22, ALNUM, `.${chars(43, 920)}`),
  word("Twilio key", "S·K", 32, HEX),
  word("Twilio account", "A·C", 32, HEX),
  word("Telegram bot", "12345678·90:AA", 33),
  word("Discord bot", "M·T", 24, ALNUM, `.${chars(6, 921)}.${chars(35, 922)}1`),
  word("DigitalOcean", "dop·_v1_", 64, HEX),
  word("Fernet", "gAA·AAA", 60),
  word("age", "AGE-SEC·RET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
  word("Databricks", "da·pi", 32, HEX),
  word("Linear", "lin·_api_", 40),
  word("Notion", "sec·ret_", 43),
  word("Mapbox", "s·k.eyJ", 40, ALNUM, `.${chars(22, 923)}`),
  word("Square", "sq0·atp-", 22),
  word("Shopify", "shp·at_", 32, HEX),
  word("Vault", "hv·s.", 24),
  word("Doppler", "dp·.pt.", 40),
  word("Groq", "gs·k_", 52),
  word("xAI", "xa·i-", 60),
  word("Postman", "PM·AK-", 24, HEX, `-${chars(34, 924, HEX)}`),
  word("Atlassian", "ATA·TT3", 60),
  word("Supabase", "sb·p_", 40, HEX),
  word("Grafana", "gl·sa_", 32),
  word("Docker Hub", "dckr·_pat_", 27),
  { name: "JSON web token", text: jwt, secret: jwt },
];

/** Credentials that show by what stands around them. */
export const PHRASE_SAMPLES: readonly Sample[] = [
  phrase("bare password in a database URI", "postgres://app:§@db.example.com:5432/main", "pw"),
  phrase("password without user in a URI", "redis://:§@cache.example.com:6379/0"),
  phrase("token as user of a URI", "https://§@git.example.com/x.git", chars(30, 930)),
  phrase("mongodb+srv", "mongodb+srv://root:§@cluster0.example.net/?retryWrites=true", "p%40ss-word"),
  { name: "PEM, RSA", text: pem("RSA "), secret: chars(64, 902) },
  { name: "PEM, PKCS8", text: pem(""), secret: chars(64, 901) },
  { name: "PEM, OpenSSH", text: pem("OPENSSH "), secret: chars(64, 901) },
  phrase("AWS secret, env", "AWS_SECRET_ACCESS_KEY=§", chars(40, 931, `${ALNUM}/+`)),
  phrase("AWS secret, credentials file", "aws_secret_access_key = §", chars(39, 932, `${ALNUM}/+`).concat("9")),
  phrase(
    "Azure account key",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=§",
    `${chars(86, 933, `${ALNUM}+/`)}==`,
  ),
  phrase("Azure SAS", "https://x.blob.core.windows.net/c?sv=2024-01-01&sp=r&sig=§", `${chars(40, 934)}%2B1%3D`),
  phrase("Authorization bearer", "Authorization: Bearer §"),
  phrase("Authorization basic", "Authorization: Basic §", "dXNlcjpodW50ZXIyMQ=="),
  phrase("Authorization token", "-H 'authorization: token §'"),
  phrase("Proxy-Authorization", "Proxy-Authorization: Bearer §"),
  phrase("bearer in prose", "the server wants bearer §"),
  phrase("X-API-Key", "x-api-key: §"),
  phrase("Cookie", "Cookie: theme=x; session=§"),
  phrase("Set-Cookie", "Set-Cookie: sid=§; Path=/; HttpOnly"),
  phrase("curl -u", "curl -s -u admin:§ https://example.com"),
  phrase("--password", "mytool login --password §"),
  phrase("--token=", "mytool login --token=§"),
  phrase("mysql -p", "mysql -h db -u root -p§ main"),
  phrase("sshpass", "sshpass -p § ssh root@host"),
  phrase(".netrc", "machine example.com login joe password §", "swordfish"),
  phrase(".env, plain word", "DB_PASSWORD=§", "swordfish"),
  phrase(".env, signs", "SECRET_KEY=§", "a$b&c;d9e(f)g"),
  phrase(".npmrc", "//registry.example.com/:_authToken=§"),
  phrase("YAML", "password: §", "swordfish"),
  phrase("YAML, quoted passphrase", 'passphrase: "§"', "correct horse battery staple"),
  phrase("JSON", '{"user": "joe", "password": "§"}', "hunter2"),
  phrase("JSON, camel case", '{"apiKey":"§"}'),
  phrase("TypeScript constant", 'const clientSecret: string = "§";'),
  phrase("Go", 'password := "§"', "hunter2"),
  phrase("Python", "os.environ['API_TOKEN'] = '§'"),
  phrase("XML", "<password>§</password>", "swordfish"),
  phrase("query string", "https://example.com/cb?state=1&access_token=§&x=1"),
  phrase("query key", "https://maps.example.com/api?key=§"),
  phrase(
    "Slack webhook",
    "https://hooks.slack.com/services/§",
    `T${chars(8, 940)}/B${chars(8, 941)}/${chars(24, 942)}`,
  ),
  phrase("Discord webhook", "https://discord.com/api/webhooks/123456789/§", chars(60, 943)),
  phrase("Datadog", "DD_API_KEY=§", chars(32, 944, HEX)),
  phrase("Cloudflare", 'CLOUDFLARE_API_TOKEN="§"', chars(40, 945)),
  phrase("SQL", "ALTER USER joe WITH PASSWORD '§'", "swordfish"),
  phrase("SQL identified by", "CREATE USER joe IDENTIFIED BY '§'", "swordfish"),
  phrase("PGPASSWORD", "PGPASSWORD=§ psql -h db", "hunter2"),
  phrase("connection string", "Server=x;User Id=sa;Password=§;Encrypt=true", "Sw0rdfish!"),
  phrase("prose", "the password is §", "hunter2"),
  phrase("Chinese", "数据库密码：§", "hunter2"),
  phrase("Korean", "비밀번호: §", "hunter2"),
  phrase("PowerShell", 'ConvertTo-SecureString "§" -AsPlainText', "swordfish"),
  phrase("docker config", '{"auths":{"x":{"auth":"§"}}}', "am9lOnN3b3JkZmlzaDEyMw=="),
];

/** Text that names credentials without holding one. */
export const HARMLESS: readonly string[] = [
  "task-management",
  "risk-assessment-2024-q1",
  "disk_usage_report",
  "src/task-scheduler.ts",
  "max access token: 4096",
  "api key: none",
  "password: see vault",
  "password: string",
  "password: string;",
  "token?: string,",
  "const token = process.env.TOKEN;",
  "apiKey: process.env.OPENAI_API_KEY,",
  "export API_KEY=$API_KEY",
  'curl -H "Authorization: Bearer $TOKEN"',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it stands in a file
  "SECRET=${SECRET}",
  "password=<your-password>",
  "token = getToken(request)",
  "const secret = config.secret;",
  "self.password = password",
  "f(token=token)",
  "tokens: 1234",
  '"max_tokens": 4096',
  '"token_count": 99',
  "PWD=/srv/joe/src",
  "the token expired",
  "Bearer authentication is required",
  "Authorization: required",
  "basic authentication",
  "author: Joe",
  "if (token === 'EOF') return;",
  "keyboard: us",
  "primary key: id",
  "foreign key (user_id)",
  "http://localhost:3000/@vite/client",
  "git@github.com:joe/repo.git",
  "cookie: none",
  "password must be at least 8 characters",
  '"password": { "type": "string" }',
  "secretsmanager.amazonaws.com",
  "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCd12",
  "passwords.map((p) => p.length)",
  "nextPageToken: abc123def456",
  "sk-learn",
  "npm_config_registry",
  "[REDACTED]",
  "password: [REDACTED]",
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "550e8400-e29b-41d4-a716-446655440000",
  "密码：见保险库",
]; // prettier-ignore

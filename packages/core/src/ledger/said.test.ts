import { describe, expect, test } from "vitest";
import { findSaid } from "./said.ts";

describe("lasting orders in other languages", () => {
  test.each([
    ["de", "Verwende ab jetzt immer pnpm."],
    ["de", "Ändere niemals die Datei schema.sql."],
    ["de", "Bitte keine neuen Abhängigkeiten, nimm nur eingebaute Module."],
    ["de", "Tests dürfen nie das Netz benutzen."],
    ["fr", "Désormais, écris tous les commentaires en français."],
    ["fr", "N'utilise jamais de variables globales."],
    ["fr", "Utilise toujours des entiers pour l'argent."],
    ["es", "A partir de ahora usa solo módulos internos."],
    ["es", "No toques la carpeta vendor."],
    ["es", "Nunca registres contraseñas."],
    ["zh", "今后请始终使用整数表示金额。"],
    ["zh", "不要修改 vendor 目录。"],
    ["zh", "提交之前必须运行全部测试。"],
    ["ja", "今後は必ず整数を使ってください。"],
    ["ja", "vendor フォルダは変更しないでください。"],
    ["ja", "決して設定ファイルを変更しないでください。"],
    ["ko", "앞으로는 항상 정수를 사용하세요."],
    ["ko", "vendor 폴더는 건드리지 마세요."],
  ])("%s: %s", (_language, text) => {
    expect(findSaid(text).rules).toEqual([text]);
  });

  test.each([
    "Warum hast du das nie getestet?",
    "Der Test hat gestern immer funktioniert.",
    "Lass das erstmal so, nicht ändern.",
    "Pourquoi tu n'utilises jamais ce module ?",
    "¿No se debe usar siempre?",
    "El test siempre estaba verde, dijo Ana.",
    "为什么不要修改这个文件？",
    "测试通过了吗",
    "テストは必ず通りましたか。",
    "昨日テストを変更しました。",
    "테스트를 항상 실행했습니까?",
    "Leave that alone for now.",
    "Just this once, never mind the linter.",
  ])("no order: %s", (text) => {
    expect(findSaid(text).rules).toEqual([]);
  });
});

describe("decisions and what was ruled out", () => {
  test.each<[string, boolean]>([
    ["We decided to round once per invoice, because rounding each line drifts.", false],
    ["Decision: the ledger stays the source of truth.", false],
    ["Let's go with libsql because it is prebuilt.", false],
    ["We'll use Redis for the cache because it survives restarts.", false],
    ["Go with the second form; the first is twice as slow.", false],
    ["We tried sqlite and rejected it because it deadlocks.", true],
    ["Don't go back to polling, it failed under load.", true],
    ["We ruled MongoDB out because of its licence.", true],
    ["Wir haben uns für Postgres entschieden.", false],
    ["Nous avons choisi la file d'attente.", false],
    ["Hemos decidido usar la segunda API.", false],
    ["我们决定使用整数。", false],
    ["キューを採用することにしました。", false],
    ["정수를 쓰기로 결정했습니다.", false],
  ])("%s", (text, rejected) => {
    expect(findSaid(text).decisions).toEqual([{ text, rejected }]);
  });

  test.each([
    "Should we go with Redis?",
    "Maybe we should have decided earlier.",
    "I tried to run it.",
    "The log says: decided to retry.",
    "What did we decide?",
    "We use Redis.",
  ])("no decision: %s", (text) => {
    expect(findSaid(text).decisions).toEqual([]);
  });
});

test("a sentence that points back is quoted with what it points at", () => {
  expect(findSaid("Could you keep summaries to three lines? That's how I like them. Go on.").rules).toContain(
    "Could you keep summaries to three lines? That's how I like them.",
  );
});

test("pasted text gives nothing", () => {
  expect(
    findSaid("```\nNever delete this.\nDecision: x\n```\n> Immer pnpm verwenden.\n2026-01-01 we decided to retry")
      .rules,
  ).toEqual([]);
});

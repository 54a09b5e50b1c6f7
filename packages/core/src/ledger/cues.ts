/**
 * Cues of lasting orders and of decisions in other languages than English: one small table each. A sentence counts when a
 * cue of its language fits and none of that language's exceptions does. Precision first, as in rules-en.ts.
 */

export interface Cues {
  /** Whether the table is worth trying: letters or words of the language. */
  script: RegExp;
  rules: readonly RegExp[];
  /** Questions, reports, stories, politeness. */
  exceptions: readonly RegExp[];
  decisions: readonly RegExp[];
  /** Of the decisions, those against something. */
  rejections: readonly RegExp[];
}

const HAN = /[\u4e00-\u9fff]/;
const KANA = /[\u3040-\u30ff]/;

export const CUES: readonly Cues[] = [
  {
    // Japanese, before Chinese: kana tell them apart.
    script: KANA,
    rules: [
      /(?:今後|これから|今から)は?.*(?:ください|こと|ない|禁止|ます)[。！]?$/,
      /(?:必ず|常に|いつも|絶対に|決して).*(?:ください|こと|ない(?:で)?|して|する|禁止)[。！]?/,
      /(?:しない|使わない|触らない|変更しない|追加しない|[わかがさたなまらば]ない)で(?:ください|下さい)/,
      /(?:は|を)?禁止(?:です|します)?[。！]?$/,
      /(?:してはいけません|してはならない|ないこと)[。！]?$/,
      /(?:ではなく|の代わりに).*(?:使って|使用して)(?:ください|下さい)/,
      /(?:より|よりも).*(?:ほうが|方が)(?:いい|良い|好き)/,
    ],
    exceptions: [/[？?]/, /(?:ですか|ますか|でしょうか)[。]?$/, /(?:ました|でした)[。]?$/, /(?:と言|と書|そうです)/],
    decisions: [/(?:に決め(?:た|ました)|に決定|を採用|ことにし(?:た|ました|ます)|で行きます|でいきます)/],
    rejections: [/(?:却下|見送|やめ(?:る|ます|た|ました)|不採用)/],
  },
  {
    script: HAN,
    rules: [
      /(?:始终|总是|永远|务必|一律|从现在(?:起|开始)|从今以后|以后(?:都|请|不)|今后)/,
      /(?:^|[，,；;。]|请|也|千万)(?:不要|不得|不许|不能|不准|禁止|切勿|绝不|别再|别|请勿|勿)(?:再)?[^了过吗]{2,}/,
      /(?:^|[，,；;]|都|请)(?:必须|只能|只用|只允许|请使用|请用|优先)[^了过吗]{2,}/,
      /(?:之前|以前|之后|以后|时|的时候)都?(?:必须|务必|不要|禁止)[^了过吗]{2,}/,
      /(?:用|使用).{1,20}(?:而不是|代替|不要用)/,
    ],
    exceptions: [
      /[？?]|[吗呢][。！]?$/,
      /(?:为什么|怎么|什么|是否|能否)/,
      /(?:他说|报错|提示|显示)/,
      /不要(?:紧|担心|着急)/,
    ],
    decisions: [/(?:我们?(?:已经)?(?:决定|选择|采用|确定)|决定(?:用|使用|采用|：|:)|就用)/],
    rejections: [/(?:放弃|否决|不采用|排除了|弃用)/],
  },
  {
    // Korean.
    script: /[\uac00-\ud7af]/,
    rules: [
      /(?:항상|반드시|언제나|절대(?:로)?|앞으로는?|지금부터|이제부터).*(?:세요|십시오|마라|말 것|할 것|하라|해라|해 ?줘|주세요)/,
      /(?:하지|쓰지|사용하지|건드리지|바꾸지|추가하지|수정하지) ?(?:마세요|마십시오|마라|말아|말 것)/,
      /(?:금지|면 안 (?:됩니다|돼요|된다))[.!]?$/,
      /(?:대신|말고).*(?:쓰세요|사용하세요|써 ?주세요|사용해 ?주세요)/,
    ],
    exceptions: [/[?？]/, /(?:까요|나요|습니까)[.]?$/, /(?:했습니다|했어요|됐어요|됐습니다)[.]?$/],
    decisions: [/(?:하기로 (?:했|결정)|결정했|선택했|채택)/],
    rejections: [/(?:기각|폐기|포기|쓰지 않기로|제외)/],
  },
  {
    // German.
    script: /\b(?:nicht|nie|niemals|immer|bitte|kein|keine|keinen|nur|wir|und|statt|stets|verwende|ändere|jetzt)\b/i,
    rules: [
      /\b(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft|grundsätzlich)\b/i,
      /^(?:bitte\s+)?(?:nie|niemals|immer|stets|ausschließlich|keinesfalls|auf keinen fall)\s+\S+/i,
      /^(?:bitte\s+)?(?:verwende|verwendet|benutze|benutzt|nutze|nutzt|schreib|schreibe|ändere|ändert|lösche|fass|fasse|rühr|rühre|nimm|vermeide|halte|lass|lasse|füge|mach|mache|committe|installiere|logge)\b.*\b(?:nie|niemals|immer|stets|nur|nicht|kein|keine|keinen|keiner|statt|anstatt|anstelle|ausschließlich)\b/i,
      /\b(?:darf|dürfen|soll|sollst|sollen|muss|müssen)\s+(?:\S+\s+){0,6}?(?:nie|niemals|immer|stets|nur|nicht|keine[nrs]?)\b/i,
      /^(?:bitte\s+)?keine?\s+(?!ahnung|problem|sorge|angst|frage|zeit|lust)\S+\s+\S+/i,
      /^vermeide\s+\S+/i,
      /^(?:ich|wir)\s+(?:bevorzuge|bevorzugen|ziehe|ziehen)\b/i,
    ],
    exceptions: [
      /[?]/,
      /\b(?:hat|haben|hatte|hatten|wurde|wurden|war|waren|sagt|sagte|meldet|steht)\b/i,
      /\b(?:warum|wieso|weshalb|vielleicht|ich glaube|ich denke|erst ?mal|vorerst)\b/i,
      /^nicht (?:schlimm|so wichtig)/i,
    ],
    decisions: [
      /\b(?:wir haben uns (?:für|gegen)|haben entschieden|entscheidung:|wir nehmen|wir bleiben bei|wir verwenden)\b/i,
    ],
    rejections: [/\b(?:verworfen|gegen\s+\S+\s+entschieden|scheidet aus|nehmen wir nicht)\b/i],
  },
  {
    // French.
    script: /\b(?:ne|pas|jamais|toujours|le|la|les|des|nous|plutôt|désormais|utilise|utilisez)\b/i,
    rules: [
      /\b(?:désormais|dorénavant|à partir de maintenant)\b/i,
      /^(?:s'il te plaît,?\s+|merci de\s+)?(?:toujours|jamais)\s+\S+/i,
      /^(?:ne|n')\s*\S+\s+(?:\S+\s+){0,4}?(?:jamais|pas|rien|plus)\b/i,
      /^(?:utilise|utilisez|emploie|employez|écris|écrivez|garde|gardez|préfère|préférez)\b.*\b(?:toujours|jamais|uniquement|seulement|plutôt que|au lieu)\b/i,
      /^(?:évite|évitez)\s+\S+/i,
      /^(?:je|nous)\s+préf(?:ère|érons)\b/i,
      /\b(?:il ne faut|tu ne dois|vous ne devez|on ne doit)\s+(?:jamais|pas)\b/i,
    ],
    exceptions: [
      /[?]/,
      /\b(?:a été|était|avait|dit que|affiche|pourquoi|peut-être|je pense|pour l'instant)\b/i,
      /^ne t'inquiète|^ne vous inquiétez/i,
    ],
    decisions: [/\b(?:nous avons (?:décidé|choisi|retenu)|on a (?:décidé|choisi)|décision\s*:|on prend|on garde)/i],
    rejections: [/\b(?:écarté|rejeté|abandonné|on ne prend pas)\b/i],
  },
  {
    // Spanish.
    script: /\b(?:no|nunca|siempre|el|la|los|las|que|por favor|usa|utiliza|solo|sólo)\b/i,
    rules: [
      /\b(?:a partir de ahora|de ahora en adelante)\b/i,
      /^(?:por favor,?\s+)?(?:siempre|nunca|jamás|solo|sólo)\s+\S+/i,
      /^(?:por favor,?\s+)?no\s+(?:uses|toques|cambies|modifiques|añadas|agregues|borres|escribas|hagas|utilices|pongas|olvides|registres|instales|subas)\b/i,
      /^(?:usa|utiliza|emplea|escribe|mantén|prefiere)\b.*\b(?:siempre|nunca|solo|sólo|en lugar de|en vez de)\b/i,
      /^evita\s+\S+/i,
      /^prefiero\s+\S+/i,
      /\b(?:no se debe|nunca se debe|no debes|no hay que)\b/i,
    ],
    exceptions: [
      /[?¿]/,
      /\b(?:dice que|dijo|estaba|había|fue|por qué|quizás|creo que|por ahora)\b/i,
      /^no te preocupes/i,
    ],
    decisions: [/\b(?:hemos decidido|decidimos|decisión\s*:|elegimos|vamos con|nos quedamos con)/i],
    rejections: [/\b(?:descartamos|descartado|rechazamos|abandonamos)\b/i],
  },
];

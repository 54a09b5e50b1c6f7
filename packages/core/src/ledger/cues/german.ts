/** German cues. Must not hold code. */
import { type Cues, wordSet } from "./cues.ts";

export const GERMAN: Cues = {
  language: "de",
  words:
    wordSet(`ich du wir ihr sie es der die das den dem des ein eine einen einem einer und oder aber nicht nie niemals
    immer nur noch kein keine keinen keiner bitte mit von für auf bei aus nach vor über unter zu zum zur im am ist sind
    war wird werden wurde hat haben hatte muss müssen darf dürfen soll sollen kann können statt als wenn weil da bevor
    damit dass jetzt ab so mir mich uns dir dich alle alles jede jeder jedes diese dieser dieses auch nimm lass ändere
    verwende benutze nutze schreib warum wieso finger entschieden vermeide lösche achte stets ja doch gut machen`),
  rules: [
    /(?:^|[\s,;:])(?:ab (?:jetzt|sofort|heute)(?! (?:geht|läuft|ist|klappt|funktioniert))|von (?:nun|jetzt) an|künftig|in zukunft|grundsätzlich)(?![\p{L}])/iu,
    /(?:auf (?:gar )?keinen fall|keinesfalls|unter keinen umständen|in keinem fall|niemals)(?![\p{L}])/iu,
    /(?:^|[,;]\s*)(?:bitte\s+)?(?:nie|immer|stets|ausschließlich|nur noch)\s+(?!(?:noch|mehr|wieder|weniger|der|die|das|ge\p{L}+(?:t|en))(?![\p{L}]))\S+\s+\S/iu,
    /^(?:bitte\s+)?(?:finger|hände) weg/iu,
    /(?:^|\s)(?:tabu|verboten|untersagt|nicht (?:erlaubt|gestattet|zulässig|verhandelbar)|zwingend|obligatorisch|pflicht)(?:[\s,.!;]|$)/iu,
    /^(?:bitte\s+)?(?:verwende|benutze|nutze|schreibe?|ändere|lösche|fasse?|rühre?|nimm|halte|lasse?|füge?|mache?|committe|installiere|logge|lege?|teste|starte|rufe?|setze?|verwendet|benutzt|nutzt)\s.*(?<![\p{L}])(?:nie|immer|stets|nur|nicht|kein\p{L}*|statt|anstatt|anstelle|ausschließlich|unangetastet|in ruhe|unverändert)(?![\p{L}])/iu,
    /(?<![\p{L}])(?:darf|dürfen|sollst?|sollen)\s+(?:\S+\s+){0,6}?(?:nie|immer|stets|nur|nicht|kein\p{L}*)(?![\p{L}])/iu,
    /^(?!wir |ich |er |sie |es |das |da |dann )(?:\S+\s+){1,5}?(?:muss|müssen)\s+(?:\S+\s+){0,8}?(?:bleiben|immer|stets|nur|enthalten|funktionieren|passen)(?![\p{L}])/iu,
    /^(?:bitte\s+)?keinen?\s+(?!ahnung|problem|sorge|angst|frage|zeit|lust|grund|wunder|stress|fehler|änderung(?:en)?[.!]*$|meldung|ausgabe|antwort|reaktion)\S+/iu,
    /^(?:bitte\s+)?(?:vermeide|vermeidet|verzichte|unterlasse?)\s+\S+/iu,
    /^(?:bitte\s+)?(?:achte|achtet) darauf|^(?:bitte\s+)?(?:stell|stelle|stellt) sicher|^(?:bitte\s+)?sorge? dafür|^(?:bitte\s+)?pass auf,? dass|^denk\p{L}* (?:dran|daran)|^merk dir|^beachte/iu,
    /(?:^|,\s*)(?:bitte\s+)?(?:frage?|frag mich|prüfe?|führe?)\s.*\bbevor du\b/iu,
    /(?<![\p{L}])bevor du\b.*(?<![\p{L}])(?:immer|erst|unbedingt)(?![\p{L}])/iu,
    /^(?:ich|wir)\s+(?:bevorzug\p{L}+|zieh\p{L}+ .* vor|hasse)(?![\p{L}])/iu,
    /^mir (?:ist|sind|wäre|wären|gefällt|gefallen)\s.*(?:lieber|besser|nicht)(?![\p{L}])/iu,
    /^(?:am liebsten|lieber|im zweifel|(?:falls|wenn|wo) (?:immer )?möglich|nach möglichkeit)(?![\p{L}])/iu,
    /^ich finde\s.*(?:besser|schöner|klarer|lesbarer)(?![\p{L}])/iu,
    /^ich (?:mag|will|möchte|hätte gerne?|hätte lieber)\s.*(?:nicht|kein\p{L}*|nur|immer|lieber|besser|schöner|klarer|lesbarer)(?![\p{L}])/iu,
  ],
  exceptions: [
    /[?]/,
    /(?<![\p{L}])(?:hat|haben|hatten?|wurden?|waren?|sagte?|meldet|steht da|heißt es)(?![\p{L}])/iu,
    /^(?:warum|wieso|weshalb|vielleicht|ich glaube|ich denke|mal sehen)(?![\p{L}])/iu,
    /(?<![\p{L}])erst ?mal(?![\p{L}])/iu,
    /^nicht (?:schlimm|so wichtig)/iu,
    /^ich (?:mag|will|möchte)\s.*(?:wissen|sehen|reden|fragen|sagen|verstehen)[.!]*$/iu,
    /^ich mag (?:das|es|dies)(?![\p{L}])/iu,
    /^(?:das|es)\s+(?:darf|kann|soll)(?![\p{L}])/iu,
  ],
  decisions: [
    /(?:^|[,;:]\s*)(?:dann\s+)?(?:wir|ich)\s+(?:nehmen?(?! uns| mir)|bleiben? bei|verwenden?|nutzen?|benutzen?|setzen? auf|gehen mit|wechseln? (?:zu|auf)|speichern|legen)(?![\p{L}])/iu,
    /(?<![\p{L}])(?:haben uns|habe mich)\s.*(?:entschieden|geeinigt|festgelegt)(?![\p{L}])/iu,
    /^(?:also\s+|gut,?\s+|ok,?\s+)?(?:entschieden|entscheidung|beschlossen|beschluss)\s*[:;,]/iu,
    /^(?:also\s+|gut,?\s+|ok,?\s+)?lasst? uns\s.*(?:nehmen|verwenden|nutzen|benutzen|bleiben|einsetzen|wechseln|speichern)(?![\p{L}])/iu,
    /(?<![\p{L}])(?:wahl|entscheidung) (?:fällt|fiel) auf(?![\p{L}])/iu,
  ],
  rejections: [
    /(?<![\p{L}])(?:verworfen|gegen\s+\S+\s+entschieden|scheidet aus|nehmen wir nicht|kommt nicht in frage|vom tisch|sackgasse|aufgegeben)(?![\p{L}])/iu,
    /^vergiss (?:den|die|das)\s/iu,
    /^nicht (?:schon )?wieder\s+\S+.*(?:,|weil|denn)/iu,
  ],
  lifts: [
    /(?<![\p{L}])(?:gilt nicht mehr|nicht mehr nötig|doch nicht|darfst (?:du )?(?:jetzt|wieder)|korrektur|stattdessen|planänderung|vergiss die regel)(?![\p{L}])/iu,
  ],
  assents: /^(?:ja|jawohl|genau|passt|gut|okay|ok|einverstanden|klingt gut|mach das|so machen wir)(?![\p{L}])/iu,
  passing:
    /(?<![\p{L}])(?:vorerst|fürs erste|im moment|heute|in diesem (?:pr|commit|branch)|bis (?:ich|wir|der|die|das))(?![\p{L}])/iu,
};

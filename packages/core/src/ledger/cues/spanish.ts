/** Spanish cues. Must not hold code. */
import { type Cues, wordSet } from "./cues.ts";

export const SPANISH: Cues = {
  language: "es",
  words: wordSet(`yo tú él ella nosotros el la los las un una unos unas de del al a y o pero no nunca jamás siempre que
    es son está están era fue ser este esta estos estas ese esa mi mis tu tus su sus nuestro en con sin para por porque
    más menos muy ya si solo sólo únicamente como cuando desde hasta ahora aquí hay debe deben me te se lo le nos usa
    usaremos utiliza favor prefiero preferiría gusta decidido hemos vamos lugar antes ejecuta evita proyecto
    prohibido asegúrate ningún ninguna ni partir adelante nada nadie sale pasa hace falta algo eso esto modifiques toques escribe mantén elegimos ocurra`),
  rules: [
    /(?:^|[\s,;])(?:a partir de (?:ahora|hoy)|de ahora en adelante|en adelante)(?![\p{L}])/iu,
    /^(?:por favor,?\s+)?(?:siempre|nunca|jamás|solo|sólo|únicamente)\s+(?!(?:falla|funciona|sale|pasa|queda|aparece|ocurre|me|se|hay|es|está|igual|lo|así|había|el|la|los|las|un|una)(?![\p{L}]))\S+/iu,
    /^(?:por favor,?\s+)?no\s+(?:(?:me|te|se|lo|la|le|los|las)\s+)?(?!(?:es|eres|estás|tienes|puedes|sabes|quieres|crees|vas|has|haces|entiendes|ves|tenemos|vemos|sabemos|podemos)(?![\p{L}]))\p{L}+(?:es|as)(?![\p{L}])\s+\S/iu,
    /(?:^|[,;]\s*)\p{L}+(?:a|e)\s+(?:siempre|únicamente|solamente|exclusivamente|solo|sólo)(?![\p{L}])/iu,
    /^(?:usa|utiliza|emplea|escribe|mantén|pon|guarda)\s.*(?<![\p{L}])(?:siempre|nunca|solo|sólo|en lugar de|en vez de|no)(?![\p{L}])/iu,
    /^(?:por favor,?\s+)?evita\s+\S+/iu,
    /(?<![\p{L}])(?:prohibid[oa]s?|no está permitido|se prohíbe|intocables?|obligatori[oa]s?|bajo ning(?:ún|una)|en ningún caso|de ninguna manera|ni se te ocurra)(?![\p{L}])/iu,
    /(?<![\p{L}])(?:no se debe|nunca se debe|no debes|no hay que|no se puede tocar|no se toca)(?![\p{L}])/iu,
    /(?<![\p{L}])(?:deben?|tienen? que)\s+(?:quedar|quedarse|seguir|mantenerse|pasar por|funcionar|siempre|usar|permanecer|contener|caber)(?![\p{L}])/iu,
    /^(?:por favor,?\s+)?(?:asegúrate|procura|recuerda|no olvides|ten en cuenta|ten cuidado|cuida(?: de)? que|vigila que|límitate|cíñete)(?![\p{L}])/iu,
    /^(?:deja|dejad)\s.*(?:como está|en paz|intact[oa]|tranquil[oa]|sin tocar)(?![\p{L}])/iu,
    /^(?:ningún|ninguna|nada de)\s+(?!problema|idea|.*(?:pasa|funciona|sale)[.!]*$)\S+/iu,
    /(?:^|,\s*)(?:pregunta|pregúntame|consulta|ejecuta|comprueba)\s.*\bantes de\b/iu,
    /^(?:yo\s+)?(?:prefiero|preferiría|preferimos|detesto|odio)\s+(?!(?:esperar|no|ver|hablar|eso|esto)(?![\p{L}]))\S+/iu,
    /^(?:a mí\s+)?(?:no )?me gustan?\s+(?!(?:cómo|como|así|mucho|esto|eso|nada)(?![\p{L}]))\S+\s*\S/iu,
    /^me gustaría (?:que|tener)?\s*(?:siempre|los|las|todas?|todos?)/iu,
    /^(?:a ser posible|si es posible|en lo posible|en caso de duda)(?![\p{L}])/iu,
    /^(?:me parece|encuentro)\s.*más (?:clar[oa]|legible|sencill[oa]|limpi[oa])/iu,
  ],
  exceptions: [
    /[?¿]/,
    /(?<![\p{L}])(?:dice que|dijo|estaba|había|hubo|por qué|quizás?|tal vez)(?![\p{L}])/iu,
    /(?<![\p{L}])fue(?:ron)?(?![\p{L}])/iu,
    /^(?:creo que|pienso que)/iu,
    /^no te preocupes|^no me gusta (?:nada )?(?:esto|eso|así)[.!]*$/iu,
  ],
  decisions: [
    /(?:^|[,;]\s*)(?:al final\s+)?(?:hemos|he)\s+(?:decidido|elegido|optado|acordado)(?![\p{L}])/iu,
    /^(?:ok,?\s+|bien,?\s+|vale,?\s+)?(?:decidido|decisión|acordado)\s*[:,;]/iu,
    /(?:^|[,;]\s*)(?:entonces\s+)?(?:decidimos|elegimos|optamos|adoptamos|usaremos|utilizaremos|guardaremos|vamos con(?! (?:el|la|lo|esto|eso)(?![\p{L}]))|vamos a (?:usar|quedarnos|guardar|adoptar)|nos quedamos con|quedémonos con|cambiamos a|pasamos a|usemos)(?![\p{L}])/iu,
  ],
  rejections: [
    /(?<![\p{L}])(?:descartamos|descartad[oa]|rechazamos|rechazad[oa]|abandonamos|no es (?:una )?opción|callejón sin salida)(?![\p{L}])/iu,
    /^olvida (?:lo de|la idea|el enfoque)/iu,
  ],
  lifts: [
    /(?<![\p{L}])(?:ya no (?:hace falta|es necesario|aplica|está prohibido)|corrección|ahora (?:sí )?puedes|cambio de planes|olvida la regla)(?![\p{L}])/iu,
  ],
  assents: /^(?:sí|si,|vale|de acuerdo|ok|okay|perfecto|adelante|hazlo|exacto|me parece bien)(?![\p{L}])/iu,
  passing:
    /(?<![\p{L}])(?:por ahora|de momento|por el momento|hoy|en (?:este|esta) (?:pr|commit|rama)|hasta que)(?![\p{L}])/iu,
};

/** French cues. Must not hold code. */
import { type Cues, wordSet } from "./cues.ts";

export const FRENCH: Cues = {
  language: "fr",
  words:
    wordSet(`je tu il elle on nous vous ils elles le la les l' un une des du de d' au aux à et ou mais ne n' pas jamais
    toujours plus rien que qu' qui est sont était sera ce cette ces cet mon ma mes ton ta tes notre nos votre vos leur
    dans sur sous avec sans pour par plutôt désormais dorénavant maintenant car parce si sauf aucun aucune doit doivent
    faut il y s' c' j' m' t' utilise utilisez décidé préfère seulement uniquement avant lieu partons plaît
    nouvelle projet pourquoi choisi évite évitez écris garde`),
  rules: [
    /(?:^|[\s,;])(?:désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui)|à l'avenir)(?![\p{L}])/iu,
    /^(?:s'il te plaît,?\s+|merci de\s+)?(?:toujours|jamais)\s+(?:de\s|d['’]|\p{L}+(?:er|ir|re|ez)(?![\p{L}]))/iu,
    /^(?:s'il te plaît,?\s+)?(?:ne\s+|n['’])\s*(?!oublie|hésite|inquiète|bouge|t['’])\p{L}+(?:[ -]\S+)*?\s(?:jamais|pas|rien|plus|aucune?)(?![\p{L}])/iu,
    /(?:^|[,;]\s*)\p{L}+(?:e|es|s|ez|is|ds|nds)\s+(?:toujours|uniquement|seulement|exclusivement|systématiquement)(?![\p{L}])/iu,
    /^(?:utilise|utilisez|emploie|employez|écris|écrivez|garde|gardez|prends|prenez)\s.*(?<![\p{L}])(?:toujours|jamais|uniquement|seulement|plutôt que|au lieu|pas)(?![\p{L}])/iu,
    /^(?:évite|évitez|proscris|bannis)\s+\S+/iu,
    /(?:^|\s)(?:interdiction (?:de|d')|(?:est|sont) interdite?s?|interdit (?:de|d')|défense de|pas question de|hors de question|(?:en|sous) aucun (?:cas|prétexte)|tabou)/iu,
    /(?:^|,\s*)il (?:faut|faudra)\s+(?:(?:toujours|impérativement|absolument)\s+(?:d['’])?\p{L}+(?:er|ir|re)(?![\p{L}])|que\s)/iu,
    /(?:il ne faut|tu ne dois|vous ne devez|on ne doit)\s+(?:jamais|pas|plus|rien)\s+\p{L}+(?:er|ir|re)(?![\p{L}])|on ne (?:touche|modifie)\s/iu,
    /(?<![\p{L}])doi(?:t|vent)\s+(?:rester|toujours|impérativement|passer par|fonctionner|contenir|tourner|tenir|mentionner|être (?:toujours|compatible|écrit|stocké|formaté|trié|en\s))(?![\p{L}])/iu,
    /^(?:s'il te plaît,?\s+)?(?:pas de|pas d'|aucune?(?!.*\s(?:ne\s|n['’])))\s+(?!problème|souci|idée|chance|doute|raison|panique|changement|quoi|résultat|réponse|sortie|effet|stress|mal|bol)\S+/iu,
    /^(?:veille[sz]?|veillez) à|^assure[sz]?-(?:toi|vous)|^fai(?:s|tes) (?:attention|en sorte)|^pense[sz]? à|^rappelle-toi|^souviens-toi|^limite-toi|^tiens-t'en/iu,
    /^(?:laisse|laissez|garde|gardez)\s.*(?:tranquille|tel quel|telle quelle|intacte?|inchangée?)(?![\p{L}])/iu,
    /(?:^|,\s*)(?:demande|demande-moi|lance|exécute|vérifie)\s.*\bavant (?:de|d'|que|chaque|toute?)/iu,
    /^(?:je|nous|j['’])\s*(?:préfère|préférons|préférerais|aime(?:rais)? mieux|aime(?:rais)? (?:bien )?(?:que|les|des)|déteste)(?![\p{L}])(?!\s+(?:la|le|l['’]|ce|cette|ça|cela)(?![\p{L}]))/iu,
    /^je n['’]aime (?:pas|guère) (?:trop |beaucoup )?(?!ça|cela)\S/iu,
    /^(?:de préférence|si possible|dans la mesure du possible|en cas de doute)(?![\p{L}])/iu,
    /^(?:je trouve|pour moi)\s.*plus (?:lisible|claire?|simple|propre)/iu,
  ],
  exceptions: [
    /[?]/,
    /(?<![\p{L}])(?:a été|ont été|étai(?:t|ent)|avai(?:t|ent)|dit que|affiche|pourquoi|peut-être)(?![\p{L}])/iu,
    /^(?:je pense|je crois)(?![\p{L}])/iu,
    /^ne t['’]inquiète|^ne vous inquiétez|^n['’]importe|^je n['’]aime pas ça|^je préfère ne\s/iu,
    /^ça\s/iu,
  ],
  decisions: [
    /(?:^|[,;]\s*)(?:nous avons|on a|j['’]ai)\s+(?:finalement\s+)?(?:décidé|choisi|retenu|opté)(?![\p{L}])/iu,
    /^(?:ok,?\s+|bon,?\s+|alors\s+)?(?:c['’]est décidé|décision|décidé|choix final)\s*[:,;]/iu,
    /(?:^|[,;]\s*)(?:alors\s+)?(?:on (?:prend|garde(?! le contact)|part sur|part avec|utilise|choisit|passe (?:à|sur)|reste (?:sur|avec))|partons sur|allons-y avec|prenons|gardons|retenons|passons (?:à|sur)|va pour|restons (?:sur|avec)|nous (?:prenons|utiliserons|utilisons|gardons|stockerons))(?![\p{L}])/iu,
  ],
  rejections: [
    /(?<![\p{L}])(?:écartée?|rejetée?|abandonnée?|exclue?|on ne prend pas|pas une option|une impasse)(?![\p{L}])/iu,
    /^laisse tomber\s+\S|^oublie (?:l['’]|la |le )\S*\s*(?:idée|piste|approche)/iu,
  ],
  lifts: [
    /(?<![\p{L}])(?:n['’]est plus (?:nécessaire|valable|interdit)|finalement|correction|tu peux (?:maintenant|de nouveau)|changement de plan|oublie la règle)(?![\p{L}])/iu,
  ],
  assents: /^(?:oui|d['’]accord|ok|okay|parfait|ça marche|très bien|vas-y|entendu|exactement)(?![\p{L}])/iu,
  passing:
    /(?<![\p{L}])(?:pour l['’]instant|pour le moment|aujourd['’]hui|dans (?:ce|cette) (?:pr|commit|branche)|jusqu['’]à ce que)(?![\p{L}])/iu,
};

/**
 * English cues, by what kind of order they are. They see one clause, lower case, straight quotes, quotations replaced.
 * Must not hold code; how cues are weighed is rules-en.ts.
 */

/** Cues at the start of a clause: the form of an order. */
export const ORDERS: readonly RegExp[] = [
  /^(?:always|never)\s+(?!had|was|were|been|seen|heard|worked|mind|gonna|nice|good|great|fun|happy|ever\b|the\b|a\b|an\b|this\b|that\b|same\b|\w*[^s\W]s\b|(?!embed|seed|exceed|proceed|feed|need|speed)\w+ed\b)\w+(?:\s+\S|-\w)/,
  /^(?:don't|do not|dont)\s+(?:ever\s+)?\w+\s+\S/,
  /^only\s+(?:ever\s+)?(?:use|edit|change|touch|modify|write|read|run|commit|push|add|work|create|import|look|call|install|test|update|respond|reply|answer|make)\b/,
  /^(?:use|run|edit|change|touch|modify|commit|import|write)\s+only\b/,
  /^prefer\s+\S/,
  /^(?:avoid|refrain from|abstain from|steer clear of|stay (?:away|out|clear) (?:from|of)|keep (?:away|out|clear) (?:from|of))\s+\S/,
  /^(?:remember|don't forget|do not forget|keep in mind|bear in mind)(?:\s+that|\s*:|\s+to\s(?=.*\b(?:always|never|every|each|any|all|when|whenever|before|after|only|not)\b))\s*/,
  /^use\s+(?!whatever|any\b|anything|this\b|that\b|these\b|those\b|the (?:first|second|last|old|new|other|blue|red|green|left|right|upper|lower)\b)(?:\S+\s+){1,8}?(?:not|instead of|rather than|never)\s+\S/,
  /^keep\s+(?!\w+ing\b|me\b|it\b|on\b|at\b)(?:\S+\s+){1,8}?(?:under|below|short|small|simple|consistent|compatible|unchanged|intact|public|private|as is|as-is|in sync|within|working|green|clean|minimal|readable|up to date|alphabetical|sorted)\b/,
  /^leave\s+(?!(?:that|this|it|them|these|those)\b)(?:\S+\s+){1,6}?(?:alone|untouched|unchanged|as is|as they are)\b/,
  /^stick (?:to|with)\s+(?!me\b|it\b|that\b|this\b)\S/,
  /^(?:answer|respond|reply|write|comment|speak)\s+(?:(?:me|all|everything|only|always|to me|your|the|commit)\s+){0,2}(?:comments\s+|docs\s+|messages\s+|answers\s+)?in\s+(?:\w+\s+)?(?:english|german|french|spanish|japanese|chinese|italian|portuguese|russian|korean)\b/,
  /^(?:always\s+)?(?:ask|check with|consult|tell|warn|talk to)\s+(?:me\s+)?(?:first\s+)?before\s+\S/,
  /^make sure (?:(?:that )?you |to |that )?(?:always|never|not)\s/,
  /^be (?:sure|careful)\s+(?:not to|never to|to (?:always|never|only|not)|that)\s+\S/,
  /^(?:limit|restrict|confine)\s+(?:yourself|changes|edits|the changes)\s+to\s+\S/,
  /^(?:hands|keep (?:your )?(?:hands|paws|fingers)) off\s+(?!approach|policy|mode)\S/,
  /^treat\s+(?:\S+\s+){1,6}?as\s+(?:read.only|frozen|immutable|untouchable|final)\b/,
  /^(?:nothing|nobody|no one|none of)\s+(?:\S+\s+){0,6}?(?:may|must|can|should|gets?|goes|is to|are to|leaves|touches)\b/,
  /^(?:at no (?:point|time)|in no (?:case|event)|on no account|under no circumstances|by no means|not under any circumstances)\b/,
  /^we\s+(?:don't|do not|never)\s+(?:use|do|allow|want|accept|commit|ship|write|log|store|mock|merge|deploy|support)\s+\S/,
  /^(?:i|we)\s+(?:can't|cannot|won't|will not)\s+(?:have|accept|allow|tolerate|afford)\s+\S/,
  /^(?:i|we)\s+(?:require|insist (?:on|that))\s+\S/,
];

/** How people state taste; also at the start of a clause. */
export const PREFERENCES: readonly RegExp[] = [
  /^(?:personally\s+)?(?:i|we)(?:'d| would)?\s+(?:always |strongly |generally |usually |much |really )?(?:prefer|favou?r)\s+(?!(?:not )?to\b(?! be\b)|your\b|that one\b|this\b|the (?:first|second|last|other)\b)\S/,
  /^(?:i|we)(?:'d| would)\s+(?:much\s+)?(?:rather|sooner)\s+(?!(?:not\s+)?(?:know|say|see|talk|hear|read|look|wait)\b)\S/,
  /^(?:personally\s+)?(?:i|we)\s+(?:really\s+|tend to\s+|generally\s+|always\s+)*(?:like|love)\s+(?!it\b|this\b|that\b|the\b|how\b|what\b|your\b|to\s+(?:know|see|hear)\b|them\b|these\b)(?:\S+\s+){1,}\S/,
  /^(?:i|we)(?:'m| am|'re| are)\s+(?:not a fan|no fan|no friend|not fond|a fan)\s+of\s+\S/,
  /^(?:i|we)\s+(?:really\s+)?(?:hate|dislike|can't stand|cannot stand|do not like|don't like)\s+(?!it\b|this\b|that\b|the\s+way\b|how\b|to\s+(?:say|ask)\b|when\b)\S/,
  /^(?:personally\s+)?i\s+find\s+(?!it\b|this\b|that\b|the\b)(?:\S+\s+){1,8}?(?:easier|clearer|nicer|cleaner|better|harder|more|simpler|prettier)\b/,
  /^(?:(?:ideally|preferably|by preference|for preference|(?:where(?:ver)?|whenever|if) (?:at all )?(?:possible|you can|feasible)$)\b(?!\s+(?:before|after|today|by|on|this|tomorrow|soon|now)\b)|(?:when in doubt|when unsure|if in doubt)\b(?!,?\s+(?:it|he|she|they|this|that|the)\b)|my (?:taste|preference|style|rule of thumb)\b)(?!,?\s+(?:show|tell|give|explain|send|look|check|fix|find|list|print|open|run)\b)(?!,?\s+(?:we|i|it|there|this) (?:would|could|should|had)\b)/,
  /^(?:we|i)\s+(?:usually|normally|generally|typically|conventionally)\s+(?:use|write|name|put|keep|call|test|format|store|do|place|group|sort)\s+\S/,
  /^(?:as|for) (?:naming|style|names|formatting|tests|commits|errors|logging|types|imports)\b.*\b(?:i|we|use|go|stick|favou?r|prefer|like)\b/,
];

/** Taste anywhere in a sentence. */
export const TASTE =
  /\b(?:that's (?:how|what|the way) i (?:like|prefer|want)|(?:is|that's|that is) my (?:preference|taste|style)|i find (?:it|that|them|this) (?:clearer|easier|nicer|cleaner|more readable|simpler)|go with that style)\b/;

/** Nouns of style: an instruction about them is meant for all of them, not for one. */
const STYLE =
  "(?:tabs|spaces|semicolons|quotes|names?|identifiers|commits?|commit (?:messages?|titles?)|titles|messages|comments|docstrings|imports|exports|functions|methods|classes|types|tests|answers|replies|summaries|bullets|sentences|paragraphs|lines|tables|columns|headings|dates|timestamps|numbers|logs|branches|branch names|variables|constants|indentation|english|style)";

/** An instruction on style: `use tabs`, `answers in …`, `I want commit titles in the form …`. */
export const STYLED: readonly RegExp[] = [
  new RegExp(`^use\\s+(?!the\\b|this\\b|that\\b|these\\b|those\\b|your\\b|my\\b)(?:\\S+\\s+){0,3}?${STYLE}\\b`),
  new RegExp(
    `^(?:i|we)(?:'d| would)?\\s+(?:want|like)\\s+(?:all\\s+)?(?:my\\s+|our\\s+)?(?!the\\b|a\\b|an\\b)(?:\\S+\\s+){0,2}?${STYLE}\\s+(?:to\\s+(?:be|start|begin|end|have|stay|use)|in|with|as|under|without|sorted)(?!.*\\b(?:below|above|now)\\b)\\b`,
  ),
  new RegExp(
    `^(?:keep|write|name|format|begin|start|end|prefix|wrap|sort|indent)\\s+(?:all\\s+)?(?:\\S+\\s+){0,2}?${STYLE}\\b(?!.*\\b(?:for (?:the|this|that)|on the|in the|below|above|now|here)\\b)`,
  ),
  new RegExp(`^(?:could|can|would) you (?:please )?(?:keep|write|format|name|sort)\\s+(?:\\S+\\s+){0,2}?${STYLE}\\b`),
  /^(?:please\s+)?call (?:the|our|this) (?:product|project|company|app|tool|thing|feature|repo)\s+\S/,
];

/** "No new dependencies.": an order at the start of a sentence, or after another order; elsewhere mostly a report. */
export const BAN =
  /^no\s+(?!\w+ (?:found|shown|returned|given|left|at all|yet|here|there|now|any ?more|either|so far|again|with that)\b|(?:output|changes?|results?|effect|response|difference|clue|answer|reaction|sign|success|dice|matches|match|data|idea|go|reply|joy|error|errors|warnings?)\b|such|that|the|this|it|its|it's|i|i'm|we|you|they|wait|need|idea|worries|problem|problems|doubt|thanks|way|one|longer|more\b|changes? needed|luck|but|not|there|what|just|please)[a-z][\w-]*(?:\s+[\w./'-]+){0,9}[.!]*$/;
/** "Use pnpm, not npm": the contrast stands behind a comma. */
export const CONTRAST =
  /^(?:please\s+)?use\s+(?!whatever|any\b|anything|this\b|that\b|these\b|those\b)[^,]{1,60},\s+(?:not|never|instead of|rather than)\s+\S/;
export const BAN_AFTER = /^(?:use|write|keep|make|put|just|only|add|plain|simple)\b/;

const LASTING_STATE =
  "(?:stay|remain|keep|work|run|pass|support|match|fit|be (?:compatible|backwards?|able|written|stored|formatted|placed|sorted|idempotent|deterministic|stable|signed|reviewed|documented|tested|covered|kept|called|named|prefixed|under|below|at most|at least|within|in)|go through|use|contain|mention|carry|start with|begin with|end with|live in|include|come with)";
const ANYTHING_BUT_POINTERS =
  "(?!(?:also|then|and|but|so|still|just)\\b|it\\b|this\\b|that\\b|they\\b|he\\b|she\\b|i\\b|we\\b|there\\b|you\\b|which\\b|who\\b)";

/** Cues inside a clause that carry an obligation whatever stands before them. */
export const OBLIGATIONS: readonly RegExp[] = [
  /\b(?:must|shall)\s+(?:not\s+|never\s+|always\s+|only\s+)?(?!have\s+(?:been|got|gone|lost|broken|forgotten|\w+ed)\b|be\s+(?:a|an|some|because|wrong|due|the|something|that|from|why|related|caused|\w+ing)\b)[a-z]+/,
  /\b(?:mustn't|shan't)\s+\w+/,
  /\b(?:should|may|will|need to|has to|have to|are to|is to)\s+(?:never|always|only)\s+(?:be\s+)?\w+/,
  /^(?:you|we)\s+(?:can|may)\s+only\s+(?:use|edit|write|touch|read|change|run|call|commit|push|add|work|access|import|install|deploy)\b/,
  /\b(?:you|we|tests|code|files|functions|commits|messages|comments|names|components|modules|classes|types)\s+(?:should not|shouldn't|may not|cannot|can't|are not allowed to|are never|are always)\s+(?!see|hear|find|tell|know|understand|reproduce|remember|believe|say|imagine|wait|get|be sure)\w+/,
  /\b(?:is|are) (?:not (?:allowed|permitted|negotiable|to be \w+|to \w+)|forbidden|off.?limits|mandatory|prohibited|compulsory|out of bounds|taboo|untouchable|read.only for you|required (?:for|in|before|on) (?:every|each|all|any))\b/,
  /\b(?:without|unless)\s+(?:asking(?: me)?|my (?:ok|okay|approval|permission|consent)|i (?:say|ask|tell|approve|explicitly))\b/,
  /^it(?:'s| is) (?:essential|crucial|vital|critical|imperative|important|mandatory|required|non.negotiable)\s+(?:that|to)\s+(?!me\b|us\b|you\b)\S/,
  new RegExp(`^${ANYTHING_BUT_POINTERS}(?:\\S+\\s+){1,8}?(?:has|have|needs?) to\\s+${LASTING_STATE}\\b`),
  /^(?:every|each|all|any)\s+(?!.*\b(?:wrong|same|missing|broken|twice|fails?|failing|find out|why|right now|already|i)\b)(?:\S+\s+){1,7}?(?:should|needs? (?:an?|its|their|to)\b|gets?|goes|go|is to|are to|has to|have to|belongs?|lives?|carries|requires?|starts?|begins?|ends?|uses?)\s+\S/,
  /^(?:\S+\s+){1,6}?(?:are|is)\s+to be\s+(?:placed|written|stored|named|kept|put|capped|sorted|generated|limited)\b(?!.*\b(?:yesterday|already|now|right now|currently|wrongly|twice)\b)/,
  /\b(?:has|have) to (?:keep working|stay|remain)\b/,
  /\byou\s+(?:may|can|are free to|are allowed to)\s+[^.]*\bbut\s+(?:not|never|don't|only|no)\b/,
];

/** What somebody has to do now. */
export const AGENDA =
  /^(?:we|i|you|he|she|they)(?:'ll)?\s+(?:must|shall|have to|need to)\s+(?:now\s+|first\s+|also\s+|really\s+)?(?:fix|add|finish|find|check|look|ship|hurry|go|say|admit|do|get|make|try|debug|see|talk|wait|figure|decide|think|leave|restart|start|move on)\b/;

/** Turns of phrase that make a sentence an order wherever they stand in it. */
export const EMPHASIS =
  /\b(?:whatever you do|no exceptions?|no matter what|and nothing else|please keep it that way|keep it that way|so (?:leave it|keep it) (?:alone|out|as is)|leave it out|leave them out|so no changes there|keep your hands off)\b/;

/** Words that make the whole sentence lasting. */
export const LASTING =
  /^(?:\W*)(?:ok(?:ay)?,?\s+|and\s+|so\s+|also,?\s+|please,?\s+)*(?:(?:from now on|going forward|from here on)(?!,? (?:it|this|that|there|everything|the \w+) (?:works?|is|goes|runs?|should)\b)|as of (?:now|today),|henceforth|in (?:the )?future(?!,? (?:versions?|releases?|we|this|it|there|i)\b)|for the rest of (?:this|the) (?:session|project|conversation)|at all times|(?:whenever|every time|each time) you\b[^,]+,\s*(?!(?:an?|the|it|this|that|there|nothing|i|we|my|another|new)\b)\S+|before you (?:commit|push|merge|release|deploy|publish|finish|say|report|call|claim|mark|touch|change|edit|delete|install|add|close|rename)\b|(?:before|after) (?:every|each|any) (?:commit|push|change|edit|release|merge|deploy)\b(?:[^,]{0,40},)?\s*(?:please |always )?(?:run|update|check|ask|execute|rebuild|format|lint|regenerate|build|test|bump|write|add|make|do|verify|tell)\b|if you (?:ever )?(?:need|have|want) (?!anything|help|more\b|me\b)\S.*\b(?:only|never|always|nothing else|ask me|ask first|don't|do not|must)|throughout (?:this|the) (?:session|project))\b/;
export const LABEL =
  /^(?:(?:new|general|house|project|ground|hard|strict|firm|absolute|important|golden)\s+)?(?:rules?|constraints?|requirements?|conventions?|polic(?:y|ies)|preferences?|limitations?|house style|no exceptions?)\s*:\s*\S|^(?:one (?:thing|rule) to remember|remember|reminder|important|no exceptions?)\s*[:,].*\b(?:must|never|always|only|not|has to|have to|needs? to|keep|don't|cannot|can't|every|all|are written)\b/;

export const QUESTION =
  /^(?:can|could|do(?! not\b)|does|did|is|are|was|were|should|shall|would|will|what|what's|why|how|when did|where(?!ver|\s+(?:possible|you can|feasible))|who|which|have|has|isn't|aren't|doesn't|didn't|wasn't|won't|any idea|any chance|wouldn't|shouldn't|must (?:i|we|you|it))\b/;
export const HEDGED =
  /^(?:i think|i guess|i suppose|i don't (?!like|want|use|accept|allow)|i dont|i do not (?!like|want|accept|allow)|i believe|i wonder|maybe|perhaps|it seems|seems|looks like|apparently|not sure|hmm|wtf|why)\b/;
export const REPORTED =
  /\b(?:says?|said|saying|states?|stated|complain(?:s|ed|ing)?|told me|tells me|reads|reports? (?:that|an?|the|no)|reported|claims?|throws?|threw|prints?|printed|the (?:error|log|docs?|output|linter|compiler)\b|error message says)/;
export const NARRATED =
  /^(?:i|we|it|he|she|they|this|that|you|the \w+|there)\s+(?:(?:already|also|just|actually|then|only|never|always|still)\s+)*(?:was|were|did|had|got|went|ran|made|saw|said|told|broke|forgot|came|took|kept|lost|found|left|put|seems?|looks?|works?|fails?|happens?|does|\w{2,}ed)\b/;
/** Tells of a fault or of what is, at the end of a sentence: then "never" and "only" describe. */
export const DESCRIBED =
  /\b(?:which (?:looks|seems|is|feels) (?:like )?(?:a |an )?(?:bug|wrong|odd|strange|weird|broken)|on my machine|for some reason|right now it|(?:check|find out|see|figure out|explain|know) why|but (?:it|he|she|they) (?:is|are|does|do|did|returns?|has)|i (?:get|see|got) (?:a|an|the|this)|in the ui|have a look|look there)\b/;
export const POINTING_SUBJECT = /^(?:that|this|it|which|there|they|he|she|you must (?:be|have)|must (?:be|have))\b/;

/** Said for a while: an order that ends. */
export const PASSING =
  /\b(?:for now|for the moment|for the time being|for today|today|temporarily|in this (?:pr|pull request|commit|branch|change|session)\b|until (?:i|we|the|then|next|tomorrow|monday|friday|release|\w+ (?:is|are|has|have|gets?))\b|while (?:we|i|you|the)\b)/;
/** Said for one act only: no order for later. */
export const ONCE = /\b(?:this time|just (?:this )?once|this one time)\b|\bonce[.!]*$/;
/** An earlier order is corrected. */
export const CORRECTION =
  /\b(?:correction|actually|instead|changed my mind|change of plans?|scratch that|scrap that|new rule|on second thought|forget (?:what i said|the rule|my rule)|ignore (?:what i said|my earlier|the earlier)|no longer|not any ?more|after all)\b/;
/** An earlier order is taken back: said to nobody in particular, so it must name what it frees. */
export const LIFT =
  /\b(?:(?:you|we) (?:can|may) (?:now|again)|(?:you|we) (?:can|may)\b.*\b(?:now|again|after all)|(?:is|are) (?:now )?(?:allowed|fine|ok|okay|permitted|unfrozen)(?: again| now)|(?:is|are) no longer (?:needed|required|necessary|frozen|off.?limits|forbidden|true|valid)|(?:don't|do not) (?:need|have) to\b.*\b(?:anymore|any more|any longer)|no need to\b.*\b(?:anymore|any more|any longer)|forget (?:what i said|the rule|my rule) about|ignore (?:what i said|my earlier (?:rule|message)) about)\b/;

/** The user agrees with what was just proposed. */
export const ASSENT =
  /^(?:yes|yeah|yep|yup|sure|ok|okay|agreed|exactly|perfect|great|sounds? (?:good|great|fine)|looks good|lgtm|go ahead|do (?:it|that)|please do|go for it|fine|makes sense|good idea|i agree|let's (?:do|go with) (?:it|that)|right)\b(?!\s*(?:,|but)\s*(?:but|however|no)\b)/;

/** The user decided something. */
export const DECIDED: readonly RegExp[] = [
  /^(?:ok(?:ay)?,?\s+|so,?\s+|then\s+|and\s+|right,?\s+|after [^:,]{1,60}[:,]\s+|in the end,?\s+|finally,?\s+)*(?:we|i|the team)(?:'ve| have)?\s+(?:now\s+|finally\s+|just\s+|already\s+)?(?:decided|chose|chosen|agreed|settled|picked|opted)\b(?!\s+(?:nothing|not yet)\b)(?!.*\b(?:wrong|sorry|by mistake|by accident|yet)\b)/,
  /^(?:my\s+|the\s+|our\s+)?(?:final\s+)?(?:decision|decided|verdict|final answer|agreed|settled)\s*(?:[:,]|is\b)\s*(?!go\b|thanks|yes|ok|continue|please|let's|it is\b)\S/,
  /^(?:ok(?:ay)?,?\s+|so,?\s+|then\s+|right,?\s+|alright,?\s+)*let's\s+(?:go with|go for|stick (?:with|to)|stay with|settle on|keep|adopt|pick|choose)\s+(?!\w+ing\b|it\b|that\b|this\b|in touch\b|in mind\b|an eye\b|one\b)\S/,
  /^(?:ok(?:ay)?,?\s+|so,?\s+|then\s+|right,?\s+|alright,?\s+)*let's\s+(?:use|do|take|switch to|move to|make)\s+(?:\S+\s+){1,12}?(?:because|since|as\b|instead of|rather than|over|not)\b/,
  /^(?:ok(?:ay)?,?\s+|so,?\s+|then\s+|right,?\s+|alright,?\s+)*(?:(?:we|i)(?:'ll| will|'re going to| are going to|'m going to| am going to))\s+(?:use|go with|go for|keep|stay with|stick with|store|adopt|move to|switch to|take|put|build on|base)\s+(?!a look\b|a break\b|care\b|you\b|me\b|\w+ing\b|in mind\b|an eye\b|the time\b|it from\b|over\b)\S/,
  /^(?:ok(?:ay)?,?\s+|so,?\s+|then\s+|right,?\s+)*we(?:'re| are)\s+(?:going (?:with|for)|using|switching to|moving to|sticking (?:with|to)|staying with|keeping|taking)\s+(?:\S+\s+){1,16}?(?:because|since|as|instead of|rather than|for (?:the|all|our))\b/,
  /^(?:we|i)\s+go with\s+\S/,
  /^(?:go with|switch to|move to|settle on|pick|choose|adopt)\s+(?:\S+\s+){0,3}?\S+(?:[;,]\s*(?!then\b|and\b|or\b|please\b|so\b)(?:\S+\s+){0,5}?(?:is|are|has|have|was|cannot|can't|costs?|takes?|needs?|breaks?|lacks?)\b|\s+then\s*(?:[,;.!]|$)|\s+(?:because|since|as it|rather than|instead of)\b)/,
  /^use\s+(?!it\b|that\b|this\b)(?:\S+\s+){1,6}?(?:because|since|as it|rather than|instead of)\b/,
  /^(?:the\s+)?\S+(?:\s+\S+){0,4}\s+(?:stays|remains)\s+the\s+\S/,
  /(?:^|[:,]\s*)(?!(?:i|we|you|that|what|how|where|here|there|maybe|know|see|fine|good|so|but|and|as|whatever)\b)[\w.@/-]+(?:\s[\w.@/-]+)? it is\s*(?:[.,;!]|$|since|because|then)/,
  /^(?:after [^:,]{1,60}[:,]\s+|so,?\s+|ok,?\s+)?\S+(?:\s\S+){0,3}\s+wins\b/,
  /^(?:the|our|my) plan is to\s+(?:use|move|go|keep|switch|build|store|retire|replace)\b/,
];

/** The user ruled something out. */
export const REJECTED =
  /\b(?:(?:is|was|are|were|we|i)\s+(?:have\s+)?rejected\b(?! by\b)|^rejected\s*[:,]|ruled\s+(?:\S+\s+){0,6}?out\b|(?:is|are|was|were) (?:not an option|no option|off the table|a dead[ -]end|out of the question|a non.?starter|a no.?go)\b|(?:we|i)\s+(?:\w+ly\s+|already\s+)?(?:tried|dropped|abandoned|gave up on|discarded|considered|evaluated|reverted|backed out|scrapped)\s+\S|(?:don't|do not|let's not)\s+(?:go back to|try)\s+\S+(?:\s+\S+){0,12}?\s*(?:because|since|,|it\b|again)|so (?:that|this|it) is out\b)|^(?:forget (?:about\s+)?|scrap |ditch |drop |abandon |kill )(?:the |that )?\S+(?:\s\S+){0,3}?(?:\s(?:idea|approach|plan|option|variant|route)\b|,\s*(?:it|that|this|they)\s+(?:never|cannot|can't|does|did|failed|fails|breaks?|broke|is too|was too)\b)|^not\s+(?!this\b|that\b|it\b|again\b)\S+(?:\s\S+){0,3}?\s+again\b/;
/** Words that say why, without which a story of trying is no ruling out. */
export const REASONED =
  /\b(?:because|since|as it|as the|due to|so that|so it|did(?: not|n't) work|and dropped|it (?:failed|broke|breaks|deadlock\w*|is too|was too|cannot|can't|does not|doesn't|never)|reject|ruled|too (?:slow|big|heavy|expensive|complex)|not an option|no option|off the table|dead[ -]end|out of the question|non.?starter|no.?go|idea|approach|plan|variant|route|out\b|again\b|said no|cost)/;

"""Words for the form of a sentence, not for its topic: function words, and the words of decisions and rules."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    "der die das den dem des ein eine einen einem einer eines und oder aber wenn als wie wo wer wen warum wieso nicht"
    " kein keine auch noch nur schon sehr mit von vom zu zum zur bei für auf aus nach über unter vor durch gegen ohne"
    " um bis ist sind war waren sein haben hat hatte hatten habe wird werden wurde kann können soll sollen"
    " sollte muss"
    " müssen darf ich du er sie es wir ihr uns euch mich dich sich mein dein unser unsere unseren dieser diese dieses"
    " dazu dafür damit hier dort jetzt bitte mal man im am ins le la les l un une des du de d et ou mais si que qui"
    " quoi dont où quand comment pourquoi ne pas plus non aussi avec sans pour par sur sous dans en au aux à est sont"
    " était être avoir ont avait nous vous ils elles je tu il elle on me te se ce cet cette ces mon ton son notre nos"
    " votre leur y faut doit peut s'il svp quel quelle quels quelles qu avons été fait el los las una unos unas"
    " del al y"
    " o pero cuando cómo como dónde donde qué cuál por para con sin sobre entre hasta desde es son era ser estar está"
    " están hay ha han hemos había nosotros usted ellos yo tú él ella mi tu su nuestro nuestra este esta estos estas"
    " eso esto lo se nos muy más ya también solo debe puede favor o os as um uma do da dos das no na nos nas ao aos e"
    " mas quando onde porque por com sem sobre até desde é são foi ser estar há tem temos tinha nós você eles eu meu"
    " seu nosso nossa este esta isso isto muito mais já também só deve pode il lo gli i uno dello della dei degli"
    " delle al alla ai alle dal dalla nel nella nei sul sugli sulle sui sulla ed ma come dove perché cosa chi"
    " con senza per tra fra è"
    " sono era essere abbiamo hanno ha noi voi loro io lui lei mio tuo suo nostro nostra questo questa questi queste"
    " molto più già anche solo deve può non и в во на с со к ко о об от до из у за под над при про без для по"
    " не ни но"
    " а или если когда как где что чтобы кто почему зачем мы вы они он она оно я ты наш наша наше наши ваш это этот"
    " эта эти тот та те быть был была было были есть будет нужно надо можно же ли бы уже ещё еще только тоже также"
    " очень пожалуйста мне нам нас".split()
)
"""Function words of German, French, Spanish, Portuguese, Italian and Russian; some are content words in English."""
ASKS = frozenset(
    "decide decided decides deciding decision decisions choose agree agreed agrees agreement settle settled"
    " convention conventions policy"
    " rationale adr adrs rule rules chose chosen entscheiden entschieden entscheidung beschlossen vereinbart"
    " abgemacht"
    " festgelegt regel regeln décidé décision convenu règle règles choisi decidimos decidido decisión acordamos"
    " acordado regla reglas elegimos decidiu decidimos decisão combinamos regra escolhemos deciso decisione"
    " concordato"
    " regola scelto решили решение договорились правило правила выбрали"
    " 决定 決定 决策 约定 規定 规定 规则 决め 決め 方針 ルール".split()
)
"""Words that ask for a decision or state one."""
ALWAYS = frozenset(
    "always never must whenever every each any before after until without unless only don't immer nie niemals jeder"
    " jede jedes jeden bevor ohne niemand nur toujours jamais chaque avant sans siempre nunca cada antes sin sempre"
    " cada antes sem mai ogni prima senza всегда никогда каждый каждая каждое перед без только"
    " 必须 不要 每次 禁止 必ず".split()
)
"""Words that mark a sentence as a rule; the words between two of them name what the rule applies to."""

"""Recognise a prompt that asks for tests without naming what they test: "and the tests for it?", "run just that test".

A clause about tests counts only if this module lists each of its words, because any other word might name a new
subject. Runs in the hook, without regular expressions.
"""

from __future__ import annotations

from enricher.prompt.wording.actions import clauses

OF_IT, RUN_IT, RUN_ONE = "of it", "run it", "run one"
"""What a prompt asks for: the tests of its subject, a run of only these, or how to run a single test."""
MOST_WORDS = 30
"""Maximum words of a prompt: a longer one names its subject."""
MOST_OF_AN_ORDER = 5
"""Maximum words of a clause such as "test it with two of them"."""
FEW_WORDS = 2
"""Maximum words of a clause that cannot change the subject: "looks good", "option 2"."""
CASES = frozenset("one another case cases einen eins einer un una uno une um uma один одну".split())
OF_A_CASE = frozenset("with for where when without mit für fuer ohne con para sin avec pour sans com sem per".split())
"""Words that follow one of CASES where a prompt describes a further test: "also one with an empty row"."""
RECORDS = frozenset(
    """
    changelog changes changes.md changes.rst changelog.md news news.md history entry entries doc docs documentation
    docstring docstrings readme readme.md note notes release commit push update updates line eintrag doku dokumentation
    entrada documentación entrée entrada documentação voce documentazione запись документацию документация
    """.split()
)
"""Words for changelogs, documents and commits, which a wish for tests may mention: "tests too, and the changelog"."""
ARTICLES = frozenset("a an another ein einen un une una um uma".split())
ELSEWHERE = frozenset("integration e2e end-to-end acceptance functional browser load performance smoke".split())
"""Kinds of tests that are in other files than the tests of a single source file."""
NO_OBJECTS = frozenset("in with next like incl including using under on where".split())
"""Words that may follow "a test for it", behind which a prompt describes the test."""
NOW = frozenset("now jetzt maintenant ahora agora adesso ora теперь сейчас".split())
REPORTING = tuple(
    """
    fail red broke green flak delet remov skip fehl rot grün lösch kaputt échou echou plant rouge vert
    supprim rojo fall borra vermelh quebr apag ross cancell пада упа красн удал
    """.split()
)
"""Beginnings of words that report how tests went ("tests, lint and build are red") or say that none are wanted."""
LONGEST_WIDE_NOUN = 8
MAKING = ("add", "create", "make", "build", "write", "implement")
MARKS = ".,;:!?\"'`()[]¿¡«»“”…"

WORDS = """
noun: test tests tset tets tsets specs spec unittest unittests testfall testfälle prueba pruebas teste testes тест
  теста тесты тестов тестом тестами тестам
tested: tested getestet testé testée testeado testado testato
pointer: it this that these those them its das dies diese dieser dieses diesen diesem ça ca cela ce cet cette ces eso
  esto ese esa este esta isso isto esse essa questo questa quello quel quella это этот эту эта эти этого этому этой
  него
pointer-alone: dafür dazu davon hierfür nisso disso
before-pointer: for of cover covers für fuer zu pour de para pra per di для на к
wider: project repo repository branch pr package app version release projekt branche projet
run: run rerun re-run execute führ führe fuehre ausführen lass lassen laufen starte lance lancer lances exécute
  exécuter ejecuta ejecutar ejecuto executo corre correr roda rode rodar rodo executa esegui eseguo lancia запусти
  запустить прогони прогнать
try: test retest teste testet testez testa prueba prova протестируй проверь
try-it: pruébalo pruebalo pruébala testalo provalo testala testons-le
concerned: affected relevant related corresponding matching changed touched edited
single: single individual specific particular particulier einzelnen einzelne einzigen seul unico único única singolo
  solo sola um один одного отдельный одну
yours: changed touched edited wrote added did modified made built
praise: good nice great helpful
negation: no not n't dont don't without kein keine keinen pas sans sin sem não senza нет без
being: is are be isn't ist sind wird werden est c'est está è
asking: add ad adds write create make put give need needs want missing forgot forget missed cover covers covering
  covered coverage any anything something exist exists existing have has had there should shouldn't haven't hasn't get
  about where where's wheres theres isnt shouldnt which would schreib schreibe schreiben ergänz ergänze ergänzen füg
  füge fuege hinzu hinzufügen gibt gibts fehlt fehlen deckt decken abdecken abgedeckt welcher welche welches welchen
  wo bau mach haben hat brauchen ajoute ajouter rajoute rajouter écris ecris écrire quel quels quelle quelles couvre
  couvrent manque existe où a-t-il y-a-t-il t-il hay añade añadir anade agrega agregar escribe escribir qué cuál cubre
  cubren falta faltan dónde tem há adiciona adicione adicionar escreve escreva escrever faz faça qual quais cobre
  cobrem faltou onde cadê c'è aggiungi aggiungere scrivi scrivere quale quali copre coprono manca mancano dove есть
  добавь добавить напиши написать какой какие покрывает покрывают покрыто покрой где нужен нужны
bare: the a an some unit regression case cases now then too also as well please pls plz and ok okay so uh uhh um hm
  hmm btw und die noch auch et les y las los e os i \N{CYRILLIC SMALL LETTER A} bitte aussi también também anche
  jetzt ein einen le un une el una um o il i maintenant ahora agora adesso ora теперь сейчас
glue: go goes belong belongs live gehört gehören hin vont va van vão vanno vivono
  one ones new here there's just only next yet already still again first if else at all or but thx thanks thats
  fine we you on with by to in from does do did got could can might must think guess suspect suppose what who how
  what's whats it's its that's we've somewhere anywhere both proper quick small simple little few couple more another
  extra would caught catch catches have fails
  file files function functions method class module change changes code der den dem des ein eine einen einem es
  schon jetzt mal durch mit nur bloß irgendwo irgendein irgendwas dann oder da wenn sonst wir ich wie aus man was du
  kannst könntest ab le la l' un une il déjà juste seulement uniquement que est-ce maintenant stp svp avec ou sont
  comment je tu peux pourrais en fonction fichier changement el una unos unas algún alguna algun sólo solamente ahora
  ya por favor con están cómo como yo se puedes podrías función archivo o uma uns algum só somente apenas agora função
  arquivo já com estão pode gli uno sono soltanto ora adesso già come puoi potresti dei и ли только лишь тоже ещё еще
  теперь сейчас пожалуйста можешь функции файла как уже
"""
"""Kinds of words, each with the words of English, German, French, Spanish, Portuguese, Italian and Russian.

A "pointer" stands for the subject, also with a noun where a word of "before-pointer" precedes it: "for that rule".
A clause with "run" needs it, or a word of "concerned", or of "single". Any other needs a word of "asking" or a pointer
that has such a word in front or is a "pointer-alone", or is "bare": "uhh the tests?".
"""
NEEDED_BESIDE = {
    "yours": "you we", "praise": "would might",
    "negation": "there there's theres have has isn't isnt shouldn't shouldnt haven't hasn't",
    "tested": "is isn't are be was ist wird est c'est está è",
}  # fmt: skip
"""Kinds of words that count only together with a word of another kind: "what you changed", not "I added tests"."""
WIDE = """
noun: 单元测试 测试用例 测试 单测 テストケース テスト
pointer: 这个 那个 这些 那些 这 那 它 この その あの これ それ あれ
run: 运行 执行 跑 実行 走らせ
single: 一个 单个 单独 1つ 一つ ひとつ
concerned: 对应 相关 関連する 対応する
asking: 对应 相关 有 哪 给 为 加 补 写 覆盖 也 呢 吗 需要 ある 書 追加 作 足し どこ どれ どの カバー も テストは
glue: どうすればいい ありますか お願いします 追加して 書いて 作って 足して ください 下さい お願い に対する するには
  したい カバーして ファイル ついでに じゃあ している してる 有没有 没有 哪些 哪个 哪里 一下 现在 函数 文件 改动 修改
  怎么 如何 怎样 ある 追加 だけ のみ まだ 関数 変更 いる どこ どれ どの する には して です ます 有 哪 给 为 对 加 上
  补 写 也 再 还 吧 请 就 只 在 是 被 过 用 呢 吗 的 了 个 来 今 は の を も が に で と か ね よ 覆盖 需要
"""
"""The same for Chinese and Japanese, which have no spaces between words; in "glue", the longest words come first."""

TRY_IT = ("测试一下", "测一下", "测试它", "テストしてみて")


def _read(text: str) -> dict[str, frozenset[str]]:
    rows = (row.partition(": ") for row in text.strip().replace("\n  ", " ").split("\n"))
    return {kind: frozenset(words.split()) for kind, _, words in rows}


def _longest_first(word: str) -> tuple[int, str]:
    return -len(word), word


_OF = _read(WORDS)
_WIDE = {kind: sorted(words, key=_longest_first) for kind, words in _read(WIDE).items()}
_NOUNS = _OF["noun"] | _OF["tested"]
_POINTERS = _OF["pointer"] | _OF["pointer-alone"]
_GLUE = frozenset().union(
    *(_OF[kind] for kind in ("asking", "bare", "before-pointer", "being", "glue")), _POINTERS, _NOUNS
)
_CERTAIN = ARTICLES | _POINTERS | _OF["asking"]
_OF_NO_SUBJECT = _GLUE | _OF["negation"] | RECORDS


def wanted(prompt: str) -> str:
    """Return OF_IT, RUN_IT or RUN_ONE, whichever a prompt asks for; empty if none, or if it may name a new subject."""
    low = prompt.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if len(low.split(None, MOST_WORDS)) > MOST_WORDS or "just a test" in low:
        return ""
    first: list[str] = []
    others: list[list[str]] = []
    found, before = "", ""
    has_now = not NOW.isdisjoint(low.split())
    for clause in clauses(low):
        is_wide = not clause.isascii() and max(clause) > "\u3000"
        words = [bare for word in clause.split() if (bare := word.strip(MARKS))]
        kind = _of_ideographs(clause) if is_wide else _of_words(words, is_question="?" in low, has_now=has_now)
        if kind == OF_IT and not found and all(len(one) <= FEW_WORDS for one in others):
            first = words
        found = found or kind
        # "fix it, strip the blanks" explains itself; "fix it, add a page" names something else.
        explains = before.endswith(" it") and f"{before}, {clause}" in low and "".join(words[:1]) not in MAKING
        others += [] if kind or explains else [words]
        before = clause
    # "now a test for it, with 30 rows": the rest describes the test. Behind "make test", the rest is pasted.
    is_certain = not _CERTAIN.isdisjoint(first) or not ("? " in f"{low} " or any(map(_reports, others)))
    leads = bool(first) and "\n" not in low and is_certain
    return found if leads or found == RUN_ONE or all(map(_keeps_the_subject, others)) else ""


def orders_to_test_it(prompt: str) -> bool:
    """Return whether a prompt wants a test of what the conversation is about: "test it", "run the tests for that"."""
    if wanted(prompt) == RUN_IT:
        return True
    for clause in clauses(prompt.lower()):
        words = [bare for word in clause.replace("-", " ").split() if (bare := word.strip(MARKS))]
        while words and words[0] in _OF["bare"]:
            del words[0]
        if len(words) <= MOST_OF_AN_ORDER and words and words[0] in _OF["try"] and _POINTERS & {*words[1:3]}:
            return True
        if (words and words[0] in _OF["try-it"]) or clause.startswith(TRY_IT):
            return True
    return False


def is_of_running(words: set[str]) -> bool:
    """Return whether words only order to run some tests, so that they name nothing else."""
    return words <= _GLUE.union(_OF["run"], _OF["single"])


def orders_to_run(low: str) -> bool:
    """Return whether a prompt in lower case has a verb such as "run"."""
    return not _OF["run"].isdisjoint(low.replace("?", " ").split()) or any(word in low for word in _WIDE["run"])


def _reports(words: list[str]) -> bool:
    return any(word.startswith(REPORTING) for word in words)


def _keeps_the_subject(words: list[str]) -> bool:
    """Return whether a clause other than the one about tests keeps the subject, such as "rename it to limit"."""
    if any(_is_test_file(word) for word in words):  # "in cart.test.js or in the folder of the parts"
        return True
    if len(words) <= FEW_WORDS or not _NOUNS.isdisjoint(words) or _OF_NO_SUBJECT.issuperset(words):
        return True
    if any(word in CASES and OF_A_CASE.issuperset(words[at : at + 1]) for at, word in enumerate(words[:FEW_WORDS], 1)):
        return True
    behind = [*words[1:], "it"]  # before other words, "that" may begin a relative clause
    return any(
        word in _POINTERS and (word in ("it", "them") or after in _GLUE)
        for word, after in zip(words, behind, strict=True)
    )


def _is_test_file(word: str) -> bool:
    stem, dot, end = word.rpartition("/")[2].rpartition(".")
    return bool(dot) and end.isalnum() and any(mark in stem for mark in ("test", "spec"))


def _of_words(words: list[str], *, is_question: bool, has_now: bool) -> str:
    words = _without_kind(words)
    own = {*_without_noun(words)}
    if own & _OF["run"]:
        return _of_running(own)
    at = next((number for number, word in enumerate(words) if word in _NOUNS), -1)
    if at < 0 or not own <= _GLUE.union(*(_OF[kind] for kind in NEEDED_BESIDE)) or _is_on_a_test(words, at):
        return ""
    for kind, beside in NEEDED_BESIDE.items():
        if own & _OF[kind] and own.isdisjoint(beside.split()) and not (kind == "negation" and is_question):
            return ""
    behind = {word for at, word in enumerate(words) if at and words[at - 1] in _OF["before-pointer"]}
    points = own & _OF["pointer-alone"] or behind & _POINTERS
    is_new = words[at] != "test" or len(words) > FEW_WORDS or words[0] in ARTICLES or (has_now and at > 0)
    is_bare = own <= _OF["bare"] | _NOUNS and (is_question or is_new)
    is_on_tested = own & _OF["tested"] and (is_question or words[0] in _OF["being"])
    is_lacking = own & _OF["negation"] and is_question
    return OF_IT if own & _OF["asking"] or points or is_bare or is_on_tested or is_lacking else ""


def _of_running(own: set[str]) -> str:
    """Return what a clause with a verb such as "run" asks for: RUN_IT, RUN_ONE, or nothing for "run the tests"."""
    known = _GLUE.union(*(_OF[kind] for kind in ("run", "single", "concerned", "yours", "wider")), ("command", "cmd"))
    if not own & (_NOUNS | {"ones"}) or not own <= known:
        return ""
    is_one = bool(own & _OF["single"]) or {"nur", "einen"} <= own
    if own & _OF["concerned"] or (own & _POINTERS and not (is_one and own & _OF["wider"])):
        return RUN_IT
    return RUN_ONE if is_one or "one" in own else ""


def _is_on_a_test(words: list[str], at: int) -> bool:
    """Return whether the word at position ``at`` is the verb "test", or means a test already in the conversation.

    Such clauses ("test it", "what does this test do") do not ask which tests there are.
    """
    noun, before, behind = words[at], words[at - 1] if at else "", words[at + 1 : at + 2]
    if not at:
        return not _POINTERS.isdisjoint(behind)  # "test it"
    if words[-1] in ("do", "does", "about") or "in" in words[:at] or (before == "the" and behind == ["cover"]):
        return True  # "what does this test do"
    is_last = _POINTERS.isdisjoint(words[at + 1 :])
    is_verb = is_last and before in ("you", "we", "they", "to")
    is_pointed_to = (
        before in _OF["pointer"] - _OF["asking"] and (is_last or noun == "test") and noun not in _OF["tested"]
    )
    return is_verb or is_pointed_to or (noun == "spec" and before != "a")


def _without_kind(words: list[str]) -> list[str]:
    """Return "a ruby test for it in the parser tests" as "a test for it", and other words unchanged."""
    for at, word in enumerate(words[:-2]):
        if word in _NOUNS and words[at + 1] in _OF["before-pointer"] and words[at + 2] in _POINTERS:
            has_kind = at > 1 and words[at - 2] in ARTICLES and words[at - 1] not in ELSEWHERE
            end = at + 3 if not NO_OBJECTS.isdisjoint(words[at + 3 : at + 4]) else len(words)
            return [*words[: at - 1 if has_kind else at], *words[at:end]]
    return words


def _without_noun(words: list[str]) -> list[str]:
    """Return the words without a noun of up to two words after a pointing word: "for that rule", "für diese Regel"."""
    for at in range(len(words) - 2):
        is_pointer = words[at + 1] in _POINTERS and words[at + 1] != "das"  # "das" may be an article
        if words[at] in _OF["before-pointer"] and is_pointer and words[at + 2] not in _OF["wider"]:
            return [*words[: at + 2], *(word for word in words[at + 2 : at + 4] if word in _GLUE), *words[at + 4 :]]
    return words


def _of_ideographs(clause: str) -> str:
    asks, points, runs, is_one = (
        any(word in clause for word in words)
        for words in (_WIDE["asking"], _WIDE["pointer"] + _WIDE["concerned"], _WIDE["run"], _WIDE["single"])
    )
    for pointer in _WIDE["pointer"]:  # "そのフィルタのテスト", "这个规则的测试"
        before, found, behind = clause.partition(pointer)
        noun, of, rest = behind.replace("的", "の").partition("の")
        if found and of and len(noun) <= LONGEST_WIDE_NOUN and not any(word in noun for word in _WIDE["noun"]):
            clause = before + rest
    left = clause
    for word in sorted(set().union(*_WIDE.values()), key=_longest_first):
        left = left.replace(word, "")
    is_verb = clause.startswith(("测试一下", "测试这", "测试那", "测试它"))
    if left.strip() or is_verb or not any(word in clause for word in _WIDE["noun"]):
        return ""
    if not runs:
        return OF_IT if asks else ""
    return RUN_IT if points else RUN_ONE if is_one else ""

"""Find the name whose location or callers a line asks for: "who calls identify", "where is identify defined".

Such a question shows that an ordinary word is a name in the code. The name has a fixed position next to the question
words; the word orders of English, German, French, Spanish, Portuguese, Italian, Russian, Chinese and Japanese are
known. Words beside "class" or "function", and flags of a command that the user reports to have run, are found, too.
This module runs in the hook, where importing ``re`` would take longer than its work.
"""

from __future__ import annotations

from enricher.prompt.wording.words import STOP_WORDS, generic_stems, is_identifier, stem

WHO = frozenset("who what which anything anyone else wer was qui quien quién chi quem кто что".split())
CALLS = frozenset(
    "calls call uses use invokes invoke imports import references reference ruft rufen benutzt benutzen verwendet"
    " verwenden nutzt nutzen importiert importieren appelle appellent utilise utilisent importe importent llama llaman"
    " usa usan importa importan chama chamam usam importam chiama chiamano usano вызывает вызывают использует"
    " используют импортирует импортируют".split()
)
"""Verbs after WHO and before the name."""
CALLERS = frozenset(
    "caller callers usage usages users definition implementation references aufrufe aufrufer verwendungen"
    " appels utilisations définition llamadas usos definición chamadas definição chiamate usi definizione".split()
)
PLACES = frozenset(
    "places files modules functions classes components stellen dateien module funktionen endroits fichiers"
    " lugares archivos módulos funciones arquivos funções posti file moduli funzioni".split()
)
"""Words after WHICH and before a verb of CALLS: "how many places call restock"."""
WHICH = frozenset(
    "which many welche viele quels quelles combien qué cuántos cuántas quais quantos quali quanti".split()
)
OF = frozenset("of for von für de di da do".split())
WHERE = frozenset("where wo où donde dónde onde dove где".split())
DEFINED = frozenset(
    "defined called used implemented declared invoked imported read definiert aufgerufen verwendet benutzt genutzt"
    " implementiert deklariert défini définie appelé appelée utilisé utilisée implémenté implémentée definido definida"
    " llamado llamada usado usada implementado implementada chamado chamada definito definita chiamato chiamata usato"
    " usata".split()
)
"""Participles in a line with WHERE, before or after the name."""
DEFINES = frozenset(
    "define call use implement declare invoke import define llama usa implementa chama chiama определяется определена"
    " определён определен вызывается используется объявлена объявлен реализована реализован".split()
)
"""Verbs in a line with WHERE, before the name."""
USED = frozenset(
    "used called raised thrown referenced imported needed read benutzt verwendet genutzt aufgerufen gebraucht utilisé"
    " utilisée appelé appelée usa usado usada llama llamado chamado usato usata chiamato используется вызывается"
    " нужен нужна".split()
)
ANYWHERE = frozenset(
    "anywhere elsewhere still somewhere irgendwo noch woanders sonst encore ailleurs algún otro otra todavía aún ainda"
    " algum outro ancora altrove ещё еще где-то где-нибудь".split()
)
"""Words that, with one of USED, ask for users: "is restock still used?"."""
CONDITIONS = frozenset("or if whether ob oder".split())
ARTICLES = frozenset("the a an this that our my der das den diese la el le il lo les los".split())
KINDS_OF_SYMBOL = frozenset(
    "class function func method struct interface enum trait component hook decorator fixture macro mixin dataclass"
    " klasse funktion methode schnittstelle komponente classe fonction méthode composant clase función método"
    " componente classe função metodo funzione класс функция функцию функции метод класса метода компонент".split()
)
KINDS = KINDS_OF_SYMBOL | {"variable", "constant"}
"""After an article, a word is a name only next to one of these: "who calls the customers" names nothing in the code."""
SETTINGS = frozenset(
    "option options setting settings flag command config configuration parameter key property default defaults rename"
    " deprecate defecto défaut padrão predefinito умолчанию"
    " einstellung befehl schalter standardwert benenne paramètre réglage commande renomme opción ajuste"
    " comando clave parámetro renombra opção configuração chave parâmetro renomeia opzione impostazione chiave"
    " parametro rinomina опция опцию настройка настройку параметр команда команду ключ переименуй 选项 设置 设定 命令"
    " 参数 配置 默认 重命名 オプション 設定 コマンド デフォルト".split()
)
"""Words next to which a hyphenated word is the name of a setting, an option or a command."""
DIFFERENCES = frozenset(
    "difference différence unterschied diferencia diferença differenza разница отличается explain erkläre explique"
    " expliquer explica spiega объясни".split()
)
"""Words that ask what the names in their line are or do."""
MEANING = (
    "what is ", "what are ", "what does ", "what do ", "what's ", "was ist ", "was macht ", "was tut ", "c'est quoi ",
    "qu'est-ce que ", "à quoi sert ", "que fait ", "qué es ", "qué hace ", "o que é ", "o que faz ", "cos'è ",
    "cosa fa ", "что такое ", "что делает ",
)  # fmt: skip
MEANING_IN_IDEOGRAPHS = ("是什么", "什么意思", "做什么", "干什么", "区别", "とは", "違い", "何をする", "何です")
"""Questions for the meaning of the names in their line."""
RUNNING = frozenset(
    "run runs running ran execute executed called calling start started starting ausführe starte rufe"
    " lance exécute ejecuto lanzo corro executo rodo eseguo lancio запускаю запуске".split()
)
"""Words before a command line that is only reported: "when I run `shopctl check --offline`"."""
PROGRAMS = frozenset(
    "./configure cargo npm npx yarn pnpm pip pip3 git docker kubectl mvn gradle python python3 node poetry uv composer"
    " bundle rake curl apt brew cmake ctest pytest tox".split()
)
"""Programs with which a pasted command line begins; "go" and "make" may be verbs of a sentence."""
LONGEST_RUN = 5
"""Maximum words between "I run" and the flags of a command line."""
_WITH = frozenset("with without mit ohne avec sans con sin com sem senza с без".split())
BESIDE = ARTICLES | KINDS | frozenset("from with in se o die".split())
"""Words that may come between the question words and the name."""
AUXILIARIES = frozenset("is are was being be been ist sind wird werden est sont es está está é è sono".split())
IN_IDEOGRAPHS = (
    "どこ", "他に使", "使ってる所", "使っている所", "使われて", "在哪", "哪里", "哪儿", "哪些地方", "别的地方",
    "其他地方", "谁在用", "谁调用",
)  # fmt: skip
"""Questions in languages without spaces between words; the name is the only word in Latin letters."""
OF_DEFINITIONS = (
    "defin",
    "défin",
    "implement",
    "implément",
    "deklar",
    "declar",
    "déclar",
    "определ",
    "объявл",
    "реализ",
)
"""Beginnings of those words of CALLERS, DEFINED and DEFINES that ask for a definition, and not for the users."""
USES_IN_IDEOGRAPHS = ("调用", "在用", "用到", "用了", "用吗", "使", "呼")
PRONOUNS = frozenset(
    "it that this them these those die das es den diese dieses ça cela la le les l eso esto lo isso isto ciò questo"
    " это этот эту".split()
)
FURTHER = frozenset(
    "second another other others more further only zweiten weitere weiteren andere anderen autre autres d'autres otra"
    " otras outra outras altra altre".split()
)
"""Words before one of CALLERS: "is there a second caller?" asks for the callers of what the answer is about."""
MOST_WORDS_OF_A_QUESTION, MOST_WORDS_OF_IT = 16, 7
ASKING = WHO | CALLERS | WHERE | PLACES
NO_NAMES = BESIDE | DEFINED | AUXILIARIES
_VERBS = CALLS | CALLERS | DEFINED | DEFINES | USED


def name_asked_for(line: str, words: list[str]) -> str:
    """Return the name whose location or callers ``line`` asks for; empty if it does not ask for any.

    ``words`` are the words of the line without the punctuation around them.
    """
    asked = _word_asked_for(line, words).partition("(")[0].rstrip(".")
    is_name = len(asked) > 2 and is_identifier(asked.replace("-", "_"))
    return asked if is_name and asked.lower() not in STOP_WORDS | KINDS_OF_SYMBOL else ""


def _word_asked_for(line: str, words: list[str]) -> str:
    lowered = [word.lower() for word in words]
    asks_where = not WHERE.isdisjoint(lowered)
    for at, word in enumerate(lowered):
        follower = lowered[at + 1] if at + 1 < len(lowered) else ""
        is_who = word in WHO or (word in PLACES and not WHICH.isdisjoint(lowered[:at]))
        if (is_who and follower in CALLS) or (word in CALLERS and follower in OF):
            return _name_after(words, lowered, at + 2)
        if asks_where and word in DEFINES:
            return _name_after(words, lowered, at + 1)
        if asks_where and word in DEFINED:
            return _name_before(words, lowered, at) or _name_after(words, lowered, at + 1)
    if not line.isascii() and any(question in line for question in IN_IDEOGRAPHS):
        latin = [word for word in words if word.isascii() and word[:1].isalpha()]
        return latin[0] if len(latin) == 1 else ""
    return ""


def asks_for_place(line: str, lowered: list[str]) -> bool:
    """Return whether a line asks where something is, or who uses it, with the words in any order."""
    if not line.isascii() and any(word in line for word in IN_IDEOGRAPHS):
        return True
    if len(lowered) > MOST_WORDS_OF_A_QUESTION:
        return False
    asks_who = any(
        (word in WHO or (word in PLACES and not WHICH.isdisjoint(lowered[:at]))) and CALLS & {*lowered[at + 1 : at + 3]}
        for at, word in enumerate(lowered)
    )
    asks_who |= "goes through" in line and not WHO.isdisjoint(lowered)
    asks_who |= _asks_if_used(line, lowered)
    return asks_who or not WHERE.isdisjoint(lowered) or not CALLERS.isdisjoint(lowered)


def _asks_if_used(line: str, lowered: list[str]) -> bool:
    """Return whether a question asks if something is used: "is restock still used?", "wird restock noch benutzt?"."""
    is_question = "?" in line or lowered[:1] in (["is"], ["are"]) or not CONDITIONS.isdisjoint(lowered)
    return is_question and not USED.isdisjoint(lowered) and not ANYWHERE.isdisjoint(lowered)


def asks_for_meaning(line: str, lowered: list[str]) -> bool:
    """Return whether a line asks what something is or does, or how two things differ."""
    if not line.isascii() and any(word in line for word in MEANING_IN_IDEOGRAPHS):
        return True
    if len(lowered) > MOST_WORDS_OF_A_QUESTION:
        return False
    return not DIFFERENCES.isdisjoint(lowered) or any(start in f"{line.lower()} " for start in MEANING)


def asks_for_users(prompt: str) -> bool:
    """Return whether a sentence of a prompt asks who uses something, not only where it is defined."""
    for sentence in prompt.replace("? ", "?\n").replace(". ", ".\n").splitlines():
        lowered = [word.strip(".,;:!?¿()`").lower() for word in sentence.split()]
        verbs = [word for word in lowered if word in _VERBS and not word.startswith(OF_DEFINITIONS)]
        is_on_users = verbs or "goes" in lowered or any(word in sentence for word in USES_IN_IDEOGRAPHS)
        if is_on_users and asks_for_place(sentence, lowered):
            return True
    return False


def asks_who_uses_it(prompt: str) -> bool:
    """Return whether a short prompt asks who uses something that it calls "it" or "that": "and who calls that?"."""
    lowered = [word.strip(".,;:!?¿()").lower() for word in prompt.replace("'", " ").split()]
    says_it = len(lowered) <= MOST_WORDS_OF_IT and not PRONOUNS.isdisjoint(lowered)
    return says_it and not (CALLS | DEFINED | DEFINES).isdisjoint(lowered) and asks_for_place(prompt, lowered)


def asks_for_further_users(prompt: str) -> bool:
    """Return whether a short prompt asks if there are further users of something: "there is a second caller, no?"."""
    lowered = [word.strip(".,;:!?¿()").lower() for word in prompt.split()]
    asks = ("?" in prompt or "there" in lowered) and len(lowered) <= MOST_WORDS_OF_IT
    callers = {at for at, word in enumerate(lowered) if word in CALLERS and not word.startswith(OF_DEFINITIONS)}
    return asks and any(at + 1 in callers for at, word in enumerate(lowered) if word in FURTHER)


def _name_after(words: list[str], lowered: list[str], at: int) -> str:
    start = at
    while at < len(words) and lowered[at] in BESIDE:
        at += 1
    if at == len(words):
        return ""
    around = {*lowered[start:at], *lowered[at + 1 : at + 2]}
    return words[at] if "-" in words[at] or around.isdisjoint(ARTICLES) or around & KINDS else ""


def _name_before(words: list[str], lowered: list[str], at: int) -> str:
    """Return the name in front of a participle, as in "where is identify defined", "wo wird identify aufgerufen"."""
    name = at - 1 if at and lowered[at - 1] not in KINDS else at - 2
    if name < 0 or lowered[name] in BESIDE | WHERE | AUXILIARIES:
        return ""
    around = {*lowered[max(0, name - 2) : name], lowered[at - 1]}
    return words[name] if "-" in words[name] or around.isdisjoint(ARTICLES) or around & KINDS else ""


def is_of_a_run(before: list[str]) -> bool:
    """Return whether a flag after the words ``before`` belongs to a command that the user only reports to have run.

    In "it hangs when I run shopctl check --offline" it does, but not in "running with --offline hangs". The flags of
    other programs ("cargo clippy --locked") are not the project's.
    """
    if before and before[0] in PROGRAMS:
        return True
    near = [word.lower() for word in before[-LONGEST_RUN:]]
    verb = next((at for at, word in enumerate(near) if word in RUNNING), len(near))
    return verb < len(near) - 1 and _WITH.isdisjoint(near[verb:])


def names_near_kinds(words: list[str]) -> list[tuple[str, bool]]:
    """Return plain words that are probably names because the prompt states their kind, as in "the Cart class".

    Each comes with whether its capital letter shows that it is the name of a class.
    """
    found = []
    for at in range(len(words) - 1):
        before, behind = words[at : at + 2]
        for kind, one in ((before, behind), (behind, before)):
            bare = one.rstrip(".")
            lowered = bare.lower()
            if kind.lower() not in KINDS_OF_SYMBOL or len(bare) < 3 or not is_identifier(bare):
                continue
            # In "the class Rewriter", the capital letter shows a name, although its stem "rewrite" is a common word.
            is_title = kind == "class" and one is behind and bare[0].isupper() and not bare.isupper()
            forms = {lowered, stem(lowered)}
            if is_title or forms.isdisjoint(STOP_WORDS | KINDS_OF_SYMBOL | NO_NAMES | generic_stems()):
                found.append((bare, is_title or (kind in ("struct", "enum", "union") and one is behind)))
    return found

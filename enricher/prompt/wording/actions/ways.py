"""Recognise questions for the project's way of an action: "how do we release here?", "wie deployen wir hier?".

Every word of the clause must be known, so that "how do we release the lock here" asks for nothing. This module runs in
the hook, so it uses no regular expressions; it is loaded only for a prompt with a word such as "how".
"""

from __future__ import annotations

from enricher.prompt.wording.actions import WIDE_NOT, bare, lowered, unpolished

_HOW = frozenset("how wie comment cómo como come как".split())
_HERE = frozenset(
    """
    here hier ici aquí aqui acá qui тут здесь repo repository project codebase projekt projet dépôt proyecto repositorio
    projeto repositório progetto проекте репозитории
    """.split()
)
_FILLERS = frozenset(
    """
    do does did is are cut we you i one a an the in this our for of new usually normally actually again
    wir man ich das die der den ein eine einen neue neuen diesem unserem im eigentlich normalerweise wird werden gemacht
    on nous je t une un le la les l dans ce notre fait faire faisons nouvelle
    se nos el los las una en este nuestro nueva hacer hace hacen hacemos se
    o os as uma no neste nesse nosso nova fazer faz fazem fazemos
    si il i gli nel questo nostro nuova fare fa fanno facciamo
    мы в этом нашем обычно делать делают делаем
    work works done made handled happen make machen macht run ausführen laufen läuft lance lancer ejecutar ejecuta
    ejecutan ejecutamos rodar roda rodamos eseguire lanciano lanciamo запускать запускают запускаем
    """.split()
)
_DONE = ("done", "made", "handled", "cut", "run")
_ACTIONS = {
    "release": "releas|publish|version|veröffentlich|publi|pubbli|релиз|выпуск|публик|версии|версию",
    "deploy": "deploy|deploi|déploi|deployment|despleg|desplieg|implant|деплои|деплоя|деплой|выкатыва",
    "test": "test|тест|prueba",
    "build": "build|bau|kompilier|compil|собира|сборк",
    "lint": "lint",
    "commit": "commit|коммит",
}
"""Beginnings of the words for each action."""
_WIDE = {"release": "发布 发版 リリース", "deploy": "部署 上线 デプロイ", "test": "测试 テスト", "build": "构建 ビルド"}
_WIDE_HOW = ("怎么", "如何", "どう")
_WIDE_HERE = (
    "我们",
    "咱们",
    "这里",
    "这个项目",
    "这个仓库",
    "本项目",
    "ここ",
    "このプロジェクト",
    "このリポジトリ",
    "うち",
)
_WIDE_FILLERS = """
怎么样 怎么 如何 的 要 应该 该 是 跑 运行 新版本 版本 呢 啊
どうやって どうやる どうやり どうする どうし どう では で は を の に が って
しています している してる します する して ます んですか んです ですか か いますか 実行
""".split()


def asked_ways(prompt: str) -> list[str]:
    """Return the actions for whose way in this project the prompt asks, without duplicates."""
    asked = (_of_words(clause) or _of_ideographs(clause) for clause in unpolished(lowered(prompt)))
    return list(dict.fromkeys(action for action in asked if action))


def _of_words(clause: str) -> str:
    for mark in ("-", "'", "\N{INVERTED QUESTION MARK}"):  # "fait-on", "l'app", "¿cómo"
        clause = clause.replace(mark, " ")
    words = [bare(word) for word in clause.split()]
    if _HOW.isdisjoint(words[:2]) or _HERE.isdisjoint(words) or words[:2] == ["how", "come"]:
        return ""
    if words[1] in ("is", "are") and not any(word in _DONE or word.endswith("ed") for word in words):
        return ""  # "how are the tests here" asks for an opinion
    left = [word for word in words if word and not (word in _HOW or word in _HERE or word in _FILLERS)]
    found = {_action_of(word) for word in left}
    return found.pop() if len(found) == 1 else ""


def _action_of(word: str) -> str:
    return next((action for action, starts in _ACTIONS.items() if word.startswith(tuple(starts.split("|")))), "")


def _of_ideographs(clause: str) -> str:
    if clause.isascii() or not any(how in clause for how in _WIDE_HOW) or any(word in clause for word in WIDE_NOT):
        return ""
    here = next((word for word in _WIDE_HERE if word in clause), "")
    named = [(action, word) for action, words in _WIDE.items() for word in words.split() if word in clause]
    if not here or len(named) != 1:
        return ""
    for word in (here, named[0][1], *_WIDE_HERE, *_WIDE_FILLERS):
        clause = clause.replace(word, " ")
    return "" if clause.strip(" ?!\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH EXCLAMATION MARK}") else named[0][0]

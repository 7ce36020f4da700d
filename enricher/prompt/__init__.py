"""Read what a host (a coding agent) sends with a prompt: remove secrets, and find what the prompt refers to.

Every module of this package may import this module, so it imports none of them.
"""

POINTING_WORDS = 24
"""Maximum words of a prompt that may refer to earlier turns; a longer prompt is assumed to name its subject itself."""
MOST_RECORDED = 40
"""Maximum length of each list (prompts, files, names etc.) in a trace, which is the record of a prompt.

Far fewer items are read from a transcript.
"""
MENTIONS_OF_TESTS = (
    "test", "tset", "tets", "specs", "a spec", "spec for", "spec and", "spec +", "spec pl", "prueb", "тест", "测试",
    "单测", "テスト",
)  # fmt: skip
"""Parts of words for tests; a prompt without any of them asks for none."""
GENERATED_CUES = """
generat generiert génér genere gera_ gerad by_hand hand-edit von_hand à_la_main a_mano à_mão вручную руками сгенер
  手で 手动 生成
"""
"""Words of prompts that may say or ask whether a file is written by a program."""
ADDITION_CUES = """
add crea implement introduc writ build make regist defin füg fueg erstell schreib ergänz ajout crée écri implément
  añad agreg escrib adicion crie criar escrev aggiung scriv добав созда напиш реализ 添加 新增 增加 实现 创建 编写 追加
  作成 実装
"""
"""Beginnings of words that may request a new thing; any other prompt is not compared with the things in the index."""
MENTIONS_OF_RUNS = (
    "run", "execut", "start", "launch", "führ", "fuehr", "laufen", "exécut", "lance", "ejecut", "corr", "rod", "esegu",
    "lanci", "запус", "выполн", "运行", "执行", "執行", "跑", "启动", "実行", "起動", "走らせ",
)  # fmt: skip
"""Parts of words for running something; a prompt without any of them neither refuses nor allows it."""

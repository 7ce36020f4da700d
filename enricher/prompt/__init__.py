"""Read what a host (a coding agent) sends with a prompt: remove secrets, and find what the prompt refers to.

Every module of this package may import this module, so it imports none of them.
"""

POINTING_WORDS = 24
"""Maximum words of a prompt that may refer to earlier turns; a longer prompt is assumed to name its subject itself."""
MOST_RECORDED = 40
"""Maximum length of each list (prompts, files, names etc.) in a trace, which is the record of a prompt.

Far fewer items are read from a transcript.
"""
MENTIONS_OF_TESTS = ("test", "tset", "tets", "specs", "a spec", "prueb", "тест", "测试", "单测", "テスト")
"""Parts of words for tests; a prompt without any of them asks for none."""

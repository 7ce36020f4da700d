"""The channel ``ways``: how this project performs the action that the prompt asks for, quoted with file and line.

Actions are commit, pull request, release, tests, build and so on (``enricher.prompt.wording.actions``); the code
index contains what CONTRIBUTING, task files, manifests and workflows state about them, of which
``enricher.context.ways.project_ways`` chooses the best. The channel runs in the hook, and starts no process.
"""

from __future__ import annotations

from enricher.context import Candidate, Channel
from enricher.prompt import ADDITION_CUES, GENERATED_CUES, MENTIONS_OF_TESTS
from enricher.prompt.text import has_cue, is_version
from enricher.sources.code import NEW, ONE_TEST, TASK, meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from enricher.context import ChannelRule, Request

FAR = 4000
CUES = """
commit push pull _pr merge_req releas publi test lint format run start serve launch build compil deploy depend
  install setting environment env_var option migrat changelog change_log contributor author bump tag typecheck
  type-check type_check type_err mypy pyright tsc_ ruff suite specs lanc exéc ejecut execut corr rod esegu führ fuehr
  lass despl dépl paquet dipend dépend abhäng umgebung entorno ambiente variab veröff pubbl prueb версию тест коммит
  релиз запуст зависим миграц деплой собери линт формат перемен pull-реквест реквест опублик выпуст скомпил 提交 测试
  发布 部署 依赖 环境变量 配置项 迁移 日志 格式化 启动 运行 构建 编译 打包 请求 テスト コミット プル リリース デプロイ
  依存 環境変数 マイグレ 変更履歴 フォーマット リント 起動 ビルド 推送 プッシュ
  comit psuh relas depoly pousse sube merge mezcl cut_ npm _types appli arranc inici migra contrib _live einstell
  deps _dep_ перев translat übersetz uebersetz tradu traduz tradui locali i18n 翻译 翻訳 flake8 clippy prettier eslint
  signoff sign-off dco 手順 history.md changes.md news.md history.rst changes.rst news.rst
  in_the_message newsfrag news_frag news_entry notes_d notas_d note_di_ril versionshinw 发行说明
  запуш пушн мерж депло выкат собрать настройк чейндж контриб 推上 个pr 发个 发版 上线 贡献 マージ コントリ
"""
"""Beginnings of words that request an action; any other prompt is not parsed for actions. ``_`` means a space."""
TASK_CUES = "regen gener rebuild recompil refresh sync check make_ install execut exécut génèr gera обнов сгенер прогон"
"""Beginnings of further words with which a prompt may request one of the project's own tasks."""
HOW_CUES = "_how wie comment cómo como come_ как 怎么 如何 どう"
"""Parts of a prompt that may ask for the project's way of an action: "how do we release here"."""
ONE_CUES = """
_single _one_ _individual _specific _particul einzel _nur_ein seul _solo _sola _únic _unic _um_ singol _один _одн
отдельн 一个 单 1つ 一つ ひとつ
"""
"""Beginnings of words for a single test, as in ``CUES``."""
BUMP_CUES = """
bump upgrad updat downgrad pin rais lift increas lower move_ switch migrat requir support drop remov _kill retir
  deprec rid_of ditch stop_ lock_ matrix _to_ci hoch take _want adopt allow minim _min_ least mindest mínim go_to
  aktualis actualiz atualiz aggiorn mets passe heb erhöh setz raus entfern schmei wirf abandon elimin quita sube
  subi eleva porta alza togli rimuov supprim enlèv augment обнов подним повыс убери убрать удали выкинь миним 升级
  support need target oldest lowest unterst brauch soport suport richied поддерж
  version? msrv cmake_m rust-version python_requires -> →
  升到 更新 提高 去掉 移除 删除 放弃 不再 最低 最小 上げ 外して 切って やめ 削除
"""
"""Beginnings of words that may change a version; any other prompt is not compared with the project's dependencies."""
MOST_ACTIONS = 2
PARTS = {"commit": ("commit", "sign-off"), "pull-request": ("ai-policy", "pull-request")}
"""Actions for which the index has facts under several names."""
RUNNERS = ("make", "just", "task", "npm", "yarn", "pnpm", "bun")
"""Programs whose arguments are commands of the project."""
HAS_NAMED_TESTS = "select 1 from ways where action = 'named-tests' limit 1"
AROUND = "`'\"()[],;:!?."
ENDS_OF_TESTS = ("Test", "Tests", "Spec", "_test", "_tests", "_spec")
"""Last parts of names of test classes and test files, as they are usual in Java, PHP, Go, Python, and Ruby."""
FEW = 5
RELEASING = ("release", "prepare", "cut", "ship", "tag", "publish", "bump")
DEVELOPMENT = (" dev ", "-dev", ".dev", "snapshot")
"""Signs of a version that is not released: "bump the version to 2.18 dev everywhere"."""
BEFORE_VERSIONS = ("to", "for", "version", "the", "release")
CHECKS = "_lint _check _prüf _pruef _vérif _comprob _verific _провер 检查 チェック"
"""Beginnings of words for a check, as in ``CUES``."""
OF_CHECKS = "commit"  # the action of which a named check is a part
HOOKS = ".pre-commit-config.yaml"


def offer(request: Request, _rule: ChannelRule) -> list[Candidate]:
    """Return, for each action that the prompt asks for, the best sentence, command or file about it in the project."""
    project = request.project
    low = f" {request.prompt[:FAR].lower()}"
    is_usual = has_cue(low, CUES)
    may_bump = has_cue(low, BUMP_CUES) or any(behind[:1].isdigit() for behind in low.split(" to ")[1:])
    is_on_generated = has_cue(low, GENERATED_CUES)
    is_other = is_on_generated or has_cue(low, ADDITION_CUES) or has_cue(low, TASK_CUES)
    if not project.root or not (is_usual or may_bump or is_other):
        return []
    index = request.index()
    if index is None:
        return []
    if named := _named_run(request.prompt, low, index):
        return [named]
    actions = _asked(request.prompt, index, is_usual=is_usual)
    if "test" in actions and (_names_tests(request.prompt) or _means_the_edit(request)):
        actions.remove("test")  # the command of all tests is beside the point
    offered: list[Candidate] = []
    if is_on_generated:
        from enricher.context.ways.generated import generated_files

        offered += generated_files(request, index)
    if may_bump and "release" not in actions:
        from enricher.context.ways import versions_set

        offered += versions_set.offered(request, index, actions)
    if "release" not in actions and _names_a_release(low):
        actions.append("release")
    if "release" in actions or "version bump" in low:
        from enricher.context.ways.versions_set import own_version

        offered += own_version(request, index)
    if "release" in actions and any(word in low for word in DEVELOPMENT):
        actions.remove("release")
    if not actions:
        return offered
    from enricher.context.ways.project_ways import best_ways, loaded_files

    loaded = loaded_files(request, meta(index, "imported"))
    is_of_check = OF_CHECKS in actions and has_cue(low.replace("(", " "), CHECKS)
    if is_of_check:
        from enricher.context.ways.named_runs import named_check

        offered += named_check(request.prompt, index)
    answered = 0
    for action in actions:
        found = [one for part in PARTS.get(action, (action,)) for one in best_ways(part, index, request, loaded)]
        # Of a check that the prompt names, the list of the hooks says nothing.
        offered += [one for one in found if not (is_of_check and HOOKS in one.ref)]
        answered += bool(found)
        if answered == MOST_ACTIONS:
            break
    return offered


def _named_run(prompt: str, low: str, index: sqlite3.Connection) -> Candidate | None:
    """Return the command or the tests of the project that a prompt names."""
    has_tests = any(word in low for word in MENTIONS_OF_TESTS) and index.execute(HAS_NAMED_TESTS).fetchone()
    if not has_tests and not any(f"{runner} " in low for runner in RUNNERS):
        return None
    from enricher.context.ways.named_runs import named_tests, nearest_command

    return nearest_command(prompt, index) or named_tests(prompt, index)


def _names_a_release(low: str) -> bool:
    """Return whether a prompt in lower case begins with the version of a release: "prepare 3.3.0", "bump to 2.1"."""
    words = [word.strip(AROUND) for word in low.split(None, FEW)[:FEW]]
    while words[1:] and words[1] in BEFORE_VERSIONS:
        del words[1]
    return words[0] in RELEASING and len(words) > 1 and "." in words[1] and is_version(words[1])


def _names_tests(prompt: str) -> bool:
    """Return whether a prompt names tests by an identifier or a file: "run ParserTest", "is test_parse.py green?"."""
    words = "".join(one if one.isascii() else " " for one in prompt[:FAR]).split()
    stems = [word.strip(AROUND).rpartition("/")[2].partition(".")[0] for word in words]
    stems = [stem for stem in stems if len(stem) > len("tests")]
    return any(stem.endswith(ENDS_OF_TESTS) or stem.startswith("test_") for stem in stems)


def _means_the_edit(request: Request) -> bool:
    """Return whether a prompt wants the tests of what the agent has just edited: "run the tests for it"."""
    if not request.conversation.changed:
        return False
    from enricher.prompt.conversation.wanted_tests import orders_to_test_it

    return orders_to_test_it(request.prompt)


def _asked(prompt: str, index: sqlite3.Connection, *, is_usual: bool) -> list[str]:
    """Return the actions that a prompt asks for: "commit", or "new exporter" if the project says how to add one.

    Only a prompt that ``is_usual`` (has a word from ``CUES``) can ask for an action other than adding a thing.
    """
    things, tasks = _named(index, NEW), _named(index, TASK)
    if not is_usual and not things and not tasks:
        return []
    from enricher.prompt.wording.actions import asked_actions

    found = asked_actions(prompt) if is_usual else []
    low = prompt.lower()
    if is_usual and not found and has_cue(f" {low}", HOW_CUES):
        from enricher.prompt.wording.actions.ways import asked_ways

        found = asked_ways(prompt)
    if has_cue(low, ONE_CUES) and any(word in low for word in MENTIONS_OF_TESTS):
        from enricher.prompt.conversation.wanted_tests import RUN_ONE, wanted

        found = [ONE_TEST] if wanted(prompt) == RUN_ONE else found
    if tasks:
        from enricher.prompt.wording.actions.tasks import asked_tasks

        if own := asked_tasks(prompt, tasks):
            from enricher.context.ways.project_ways import BY_COMMAND

            found = [TASK + task for task in own] + [one for one in found if one not in (*BY_COMMAND, "dependency")]
    if things:
        from enricher.prompt.wording.actions.additions import asked_addition

        thing = asked_addition(prompt, things)
        return ([NEW + thing] if thing else []) + found
    return found


def _named(index: sqlite3.Connection, prefix: str) -> list[str]:
    rows = index.execute("select distinct action from ways where action >= ? and action < ?", (prefix, f"{prefix}~"))
    return [action.removeprefix(prefix) for (action,) in rows]


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="how this project commits, tests, builds or releases, where it asks for that: the sentence or command",
    read_more="docs/ways.md",
    min_score=0.5,
    most=3,
    priority=5,
    tokens=240,
)

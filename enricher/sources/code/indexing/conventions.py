"""Find the sentences in a project's documents that say how to test, build, commit etc., one for each action.

This module does not run in the hook. Each unit of a document (``enricher.sources.code.indexing.documents``) is scored
for an action by the heading above it, by its own words, and by whether it is an instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.sources.code.indexing.documents import units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.sources.code.indexing.documents import Unit

WHAT_IT_IS_ABOUT = 110
"""Characters at the start of a unit in which its action must be named; the rest, such as list items, is detail."""
LEAST = 7.0
"""Minimum score of a unit that counts; an instruction whose words and heading both name the action reaches it."""
MOST_OF_A_SECTION, LONGEST_SECTION = 3, 360
"""Maximum rules of a section on commits that are told together, and their maximum characters."""

_I = re.IGNORECASE
_DEVELOPERS_FOLDER = r"docs?/(?:source/)?(?:dev|devel|development|developers?|contribut(?:e|ing|ors?))(?:[-_]guide)?/"
_DOCUMENT = re.compile(
    r"^(?:(?:.{0,60}/)?(?:(?:HOW[-_]?TO[-_])?(?:CONTRIBUT(?:E|ING)|DEVELOP(?:MENT|ING|ERS?)|HACKING|RELEAS(?:E|ES|ING)"
    r"|MAINTAIN(?:ERS|ING)|PUBLISH(?:ING)?|DEPLOY(?:MENT|ING)?|(?:RUNNING[-_])?TEST(?:S|ING|[-_]SUITE)|BUILD(?:ING)?"
    r"|WORKFLOW|CONVENTIONS|COMMIT[-_]?(?:GUIDELINES?|MESSAGES?|CONVENTIONS?)|VERIFICATION"
    r"|COD(?:E|ING)[-_]?(?:STYLE|GUIDELINES?|STANDARDS?)|STYLE[-_]?GUIDE"
    r"|AGENTS|CLAUDE|GEMINI|README))(?![a-z]|-\w+\.\d)[\w.-]*?\.(?:md|markdown|rst|txt|adoc)"
    r"|(?:\.github|\.agents|\.claude/rules|\.cursor/rules)/[\w./-]+\.(?:md|mdc)|\.cursorrules|\.windsurfrules"
    rf"|{_DEVELOPERS_FOLDER}[\w./-]+\.(?:md|rst)"
    r"|(?:docs?/)?(?-i:CONTRIBUTING|HACKING|DEVELOPMENT|README|(?:RUNNING_)?TEST(?:S|ING)|RELEAS(?:E|ING))"
    r"|\.clinerules)$",
    _I,
)
_OF_STYLE = re.compile(r"(?:^|/)(?:COD(?:E|ING)[-_]?(?:STYLE|GUIDE|STAND)|STYLE[-_]?GUIDE)[^/]*$", _I)
"""Documents on how code is written; what they say of tests, formats and options is mostly about the code in them."""
IN_STYLE_GUIDES = ("commit", "sign-off", "pull-request", "changelog")
_OF_RELEASES = re.compile(r"(?:^|/)(?:RELEAS|PUBLISH)[^/]*$", _I)
NOT_IN_RELEASING = ("commit", "pull-request", "push", "changelog", "dependency")
"""Actions on which a document about releases is ignored: its rules for commits, say, are for release commits only."""
NO_DOCUMENT = re.compile(
    r"(?:^|(?<!^doc)(?<!^docs)/)(?:node_modules|vendor|third_party|fixtures?|testdata|tests?|__tests__|examples?|samples?"
    r"|templates?|dist"
    r"|ISSUE_TEMPLATE|history|archive|evals|skills|commands|agents|blog|plans?|solutions)/|pull_request_template"
    r"|announce(?:ments?)?/|release[-_]?v?\d[^/]*$|translations?/|README[._-](?:[a-z]{2}|[a-z]{2}-[a-z]{2})\.md$",
    _I,
)
MOST_DOCUMENTS = 60
DEEPEST = 3
_ENDS = (".md", ".mdc", ".markdown", ".rst", ".txt", ".adoc", "rules")

_TOPICS = {
    "commit": r"commit(?:s|ting)?(?: messages?| subject| history| hygiene)?|conventional commits",
    "sign-off": r"sign(?:ing)?[- ]?offs?|dco|certificate of origin|sign(?:ing)? your (?:work|prs?|commits?|patch\w*)",
    "ai-policy": r"(?:generative )?(?:ai|llms?)(?:[- ]\w+)?(?: policy| tools?)?",
    "pull-request": r"pull[- ]requests?|prs?|merge requests?|submit(?:ting)? (?:changes|patches|your change)",
    "push": r"push(?:es|ing)?(?: to)?",
    "release": r"releas(?:e|es|ing)(?! notes)|publish(?:ing)?|versioning|version bumps?|cut(?:ting)? a release",
    "test": r"(?:running |run )?(?:the |unit |integration )*tests?|testing|test suite",
    "new-test": r"(?:writing |adding |unit |integration )*tests?|testing",
    "lint": r"lint(?:ing|er)?|(?<!string )(?<!message )(?<!file )(?<!date )(?<!commit )format(?:ting)?(?! of)"
    r"|code style|type[- ]?check(?:ing|s)?|static analysis|pre-commit",
    "run": r"(?:running|run|start(?:ing)?)(?: (?:it|the \w+|locally))?|local development|dev(?:elopment)? server",
    "build": r"build(?:ing)?|compil(?:e|ing)|packaging",
    "deploy": r"deploy(?:ment|ments|ing)?",
    "dependency": r"dependenc(?:y|ies)(?: management)?|adding (?:a )?dependenc(?:y|ies)",
    "setting": r"environment variables?|env vars?|adding (?:a )?(?:setting|option)s?"
    r"|config(?:uration)? (?:options?|keys?)",
    "migration": r"(?:database |schema )?migrations?",
    "changelog": r"change ?logs?|changes\.(?:md|rst)|news fragments?|changesets?|release notes",
    "translation": r"translat(?:ions?|ing|ors?)|locali[sz]ation|internationali[sz]ation|i18n|l10n",
    "contributor": r"contributors|all-contributors|authors(?: file)?|credits?|acknowledg\w+",
}
_HEADINGS = {action: re.compile(rf"\b(?:{topic})\b", _I) for action, topic in _TOPICS.items()}
_SENTENCES = {
    "commit": r"\bcommit (?:messages?|subjects?)\b|\bconventional commits?\b"
        r"|\bcommits? (?:must|should)\b|\bcommits (?:are|follow)\b|\bkeep (?:your |the )?commits\b"
    r"|\b(?:atomic|focuss?ed|small|separate) commits?\b|\bbefore (?:you )?commit(?:ting)?\b|\bcommit only\b"
    r"|\b(?:never|don't|do not) commit\b",
    "sign-off": r"\bcommit (?:-\S+ )*-s\b|--signoff\b|\bsigned-off-by\b"
    r"|\bsign[- ]off (?:your|all|each|every|on (?:your|the))\b"
    r"|\bbe signed[- ]off\b|\b(?:add|include) (?:a|the|your) (?:dco )?sign-?off",
    "ai-policy": r"(?:(?-i:\bAI\b|\bLLMs?\b).*\b(?:not|accept|disclos|prohibit|forbid|banned|reject|allowed)\w*)"
    r"|(?:\b(?:not|disclos|prohibit|forbid|banned|reject)\w*\b.*(?-i:\bAI\b|\bLLMs?\b))",
    "pull-request": r"\bpull[- ]requests?\b|\bPRs?\b|\bmerge requests?\b",
    "push": r"\b(?:never|don't|do not|always|before you|before) push(?:ing)?\b|\bpush (?:directly|to)\b"
        r"|\bforce[- ]push",
    "release": r"\b(?:to|a|each|every|new|before) releas(?:e|es|ing)\b|\bpublish(?:ing)? (?:to|a|the)\b"
        r"|\bbump (?:the )?version\b|\btag(?:s|ging)? (?:the|a|v)",
    "test": r"\brun (?:the |all )*(?:unit |integration )*tests?\b|\btest suite\b|\ball tests\b",
    "new-test": r"\b(?:tests? (?:must|should|go|live|are placed)|add (?:a )?(?:unit |regression )?tests?"
        r"|write (?:unit )?tests?|place tests|name tests|new tests?|cover(?:ed)? (?:by|with) tests?"
        r"|table[- ]driven|data[- ]driven)\b",
    "lint": r"(?<![\w-])(?<!proper )(?:lint(?:er|ing)?|format(?:ter|ted|ting)?|type[- ]?check\w*|ruff"
        r"|eslint|prettier|biome|clippy|gofmt|golangci-lint|black|pyright|mypy)\b",
    "run": r"\b(?:run|start) (?:the )?(?:app|server|dev server|cli|service|project|it locally|locally)\b",
    "build": r"\bbuild (?:the (?!docs?\b|documentation|web|site|image)|with|using|it)"
    r"|\brebuild\b|\bto build\b(?! (?:the )?doc)",
    "deploy": r"\bdeploy(?:s|ed|ment|ments|ing)?\b",
    "dependency": r"\b(?:new|add(?:ing)?|third[- ]party|runtime|external) (?:\w+ )?dependenc(?:y|ies)\b"
        r"|\bdependenc(?:y|ies) (?:must|should|are|go)\b",
    "setting": r"\b(?:new|add(?:ing)?|every|each) (?:\w+ )?(?:environment variables?|env vars?|settings?"
        r"|config(?:uration)? (?:options?|keys?))\b",
    "migration": r"\bmigrations?\b",
    "changelog": r"\bchange ?log\b|(?-i:\bCHANGES\b)"
    r"|\b(?:add|include|create|run) (?:a )?changesets?\b|\bnews fragments?\b",
    "translation": r"\btranslations?\b|\b(?:i18n|gettext|transifex|weblate|crowdin)\b|\.pot?\b|\blocales?/",
    "contributor": r"\b(?:contributors (?:list|file)|all-contributors|AUTHORS|CONTRIBUTORS)\b",
}  # fmt: skip
_WORDS = {action: re.compile(pattern, 0 if action == "contributor" else _I) for action, pattern in _SENTENCES.items()}
MAY_BE_HABITS = ("commit", "lint", "changelog", "release", "deploy", "push", "sign-off")
_HABIT = re.compile(
    r"\b(?:adopt|follow|follows|we use|project uses|are made by|(?:is|are) (?:\w+ )?automatically|automated by)\b"
    r"|^(?:git )?commit (?:messages?|subjects?) (?:are|begin|consist|contain|have|start)\b"
    r"|\b(?:published|released|deployed) automatically\b|commit (?:-\S+ )*-s\b|--signoff\b|\bsigned-off-by\b",
    _I,
)
_EMPTY = re.compile(
    r"for this purpose|licen[sc]e agreement|\bCLA\b|code of conduct|following guidelines|bear in mind|welcome|feel free"
    r"|appreciat|happy to|thank|contributor.s guide|considering|don't hesitate|good resource"
    r"|^(?:please )?(?:refer to|see)\b.{1,90}\bfor more (?:information|details)",
    _I,
)
"""Introductory phrases of documents for contributors, without information about an action."""
_REFERS = re.compile(r"\b(?:refer to|for (?:an )?examples?,|for more (?:details|information))", _I)
"""Phrases of sentences that only refer to another text; they count if they contain a path of the project."""
_EVERYWHERE = frozenset(
    """
    a an and any are as at be before by can clear clearly code commit commits committing concise descriptive describe
    describes describing do each ensure every explain explains for from good have helpful history how in is it keep
    logical make maintain maintainable meaningful message messages must of on or please project proper properly quality
    readable should short sure that the them they this to understand use using well what when with work write writing
    you your changes change clean informative detailed pull request requests pr prs after first line blank add more
    explanation relevant body subject title summary imperative mood present tense
    """.split()
)
"""Words of sentences that apply to every project, such as "Use clear, descriptive commit messages"."""
_WORD = re.compile(r"[^\W\d_]+")
CONCRETE = re.compile(r"[`\d\"'“#@/]|\w[(:]")
LEAST_OWN_WORDS = 2
HEADING_SUFFICES = ("commit", "pull-request", "release", "deploy", "migration", "setting", "translation")
"""Actions that a sentence need not name if its heading names them."""
_ORDERS_OR_RULES = re.compile(
    r"\b(?:must|should|shall|always|never|do not|don't|please|required|won't|will not|need to|needs to|make sure|ensure"
    r"|prefer)\b|^(?:every|each|all|no|only) ",
    _I,
)
_ABSOLUTE = re.compile(r"^(?:only|never|no|do not|don't) ", _I)
_POINTS_BACK = re.compile(
    r"^(?:this|that|these|those|it|they|such) (?!projects?|repo|packages?|librar|codebase|guide)|\bthis step\b", _I
)
"""Beginnings of sentences that cannot be understood without the sentence before: "This label means that …"."""
_DEMANDS = re.compile(r"\b(?:must|never|required|won't|will not|don't|do not|please|include)\b", _I)
"""Words that distinguish a requirement for pull requests from a remark: "We prefer pull requests to mailed patches"."""
_NO_SIGN_OFF = re.compile(r"^signed-off-by:|\b(?:not|optional|instead)\b", _I)
"""A sign-off in an example, or in a sentence that says that none is needed."""
_ON_MESSAGE = re.compile(r"\b(?:messages?|subjects?|first line)\b", _I)
_TESTS_FIRST = re.compile(
    r"\bbefore\b.*\bcommit.*\brun\b[^.]*\btests?\b|\brun\b[^.]*\btests?\b.*\bbefore\b.*\bcommit", _I
)
"""The whole suite before each commit, which the typo of a comment does not need."""
PATH = re.compile(r"(?:^|[\s`(])(?!https?:)[^\s`(]*[\w>}*-]/[\w<{*`-]|`[^`]*\.\w{1,4}`")
"""Matches a path."""
_QUOTES = re.compile(r"[`\"“]")
_IMPERATIVE = re.compile(
    r"^(?:\W|\d+[.)])*(?:please |always |never |then |also |only |try to )*(?:use|run|follow|prefer|add|create|open"
    r"|include|update"
    r"|write|keep|bump|tag|push|commit|squash|rebase|sign|set|put|place|name|branch|merge|publish|deploy|start|build"
    r"|install|test|check|cover|mark|link|describe|reference|document|target|base|fork|format|lint|regenerate"
    r"|generate|prefix|append|end|begin"
    r"|edit|copy|stage|verify|ensure|be sure|make sure|do not|don't|avoid|limit|explain)\b(?!-)",
    _I,
)
_CONVENTIONS = re.compile(r"(?:\w+ )?(?:conventions?|guidelines?|rules|workflow)", _I)
"""Headings of rules on any action."""
_LATER = re.compile(r"\b(?:(?:clos|merg|review|backport|handl)(?:e|ing)?|stale)\b", _I)
"""Headings about what maintainers do with an open pull request: "Closing issues and pull requests"."""
_ON_RELEASES = re.compile(r"^(?!.*\bnotes\b).*\breleas(?:e|es|ing)\b", _I)
"""Headings on releases, where what is said of a commit or an entry holds for a release only; not "Release notes"."""
_ONLY_TESTS = re.compile(r"^(?:to |for )?(?:test|try)(?:ing)?\b(?: out)? (?:the |a )?release", _I)
"""A rehearsal of a release: "To test the release process on your fork: …"."""
_NEEDS_NONE = re.compile(r"^(?:if|when|unless)\b.*\b(?:not|n't|no) (?:\w+ )?(?:require|need)", _I)
"""A sentence on the occasions when no entry is needed."""
_WHEN = re.compile(r"^((?:when(?:ever)?|before|after|if|once|to) [^,.:;]{3,80}), (.+)", _I)
"""An instruction with its occasion: "Before you open a pull request, run `make check`"."""
_TELLS = re.compile(r"^`[^`]+` (?!is\b|has\b|was\b)[a-z]+s\b|\bruns? `")
"""A command and its effect; under the heading of an action, it explains how to do it: "`just cut` tags the commit"."""
_SHOWN = re.compile(r": `[^`]+`$")
"""The command of a block that a sentence introduces: "The version is the only argument: `./release.py 1.2`"."""
_HAS_TYPE = re.compile(r"[`<\[{\"]type[)>\]}(:/ ]", _I)
"""A scheme of commit messages that begins with a type: "`TYPE(Scope): Summary`"."""
_OF_TYPES = re.compile(r"#+ (?:the |commit )*types?\W*$", _I)
_TYPE_ROW = re.compile(r"\| *[*`]*(?!type\b)([A-Za-z]{2,12})[*`]* *\||[-*+] +[*`]+([A-Za-z]{2,12})[*`]+(?=\W)", _I)
FEWEST_TYPES, MOST_TYPES = 3, 15
_PRIORS = (
    (re.compile(rf"^{_DEVELOPERS_FOLDER}(?!.*(?:CONTRIBUT|DEVELOP|RELEAS|TEST))", _I), 1.0),
    (re.compile(r"(?:^|/)README", _I), 0.0),
    (re.compile(r"(?:^|/)(?:HOW[-_]TO[-_])?(?:CONTRIBUT|HACKING|DEVELOP|MAINTAIN)", _I), 2.5),
    (_OF_STYLE, 2.5),
    (re.compile(r"(?:^|/)(?:AGENTS|CLAUDE|GEMINI)", _I), 1.9),
    (re.compile(r"(?:^|/)(?:RELEAS|PUBLISH|DEPLOY|TESTING|WORKFLOW|COMMIT)", _I), 2.0),
)
_OTHER_PRIOR = 1.5
FOR_CONTRIBUTORS = 2.0
"""The minimum score, by file name, of documents that are only for contributors."""


@dataclass(slots=True)
class Convention:
    """A unit of a document (sentence or list item) that explains an action, with its score."""

    action: str
    text: str
    line: int
    score: float


def is_document(path: str) -> bool:
    """Return whether a file may explain the project's usual actions, judged by its path."""
    # Cheap checks first: they reject most of 100,000 files.
    if not (path.endswith(_ENDS) or path[-2:].isupper()) or path.count("/") > DEEPEST:
        return False
    return bool(_DOCUMENT.match(path)) and not NO_DOCUMENT.search(path)


def conventions(path: str, text: str) -> list[Convention]:
    """Return, for each action that a document explains, the sentence or list item that explains it best."""
    best: dict[str, Convention] = {}
    prior = next((value for pattern, value in _PRIORS if pattern.search(path)), _OTHER_PRIOR)
    name = path.rpartition("/")[2].partition(".")[0].replace("-", " ").replace("_", " ")
    actions: Iterable[str] = IN_STYLE_GUIDES if _OF_STYLE.search(path) else _TOPICS
    if _OF_RELEASES.search(path):
        actions = [action for action in actions if action not in NOT_IN_RELEASING]
    found = units(text)
    for unit in found:
        for action in actions:
            score = _score(action, unit, prior, name)
            if score >= LEAST and (action not in best or score > best[action].score):
                best[action] = Convention(action, unit.text, unit.line, score)
    if commit := best.get("commit"):
        commit = _with_its_section(commit, found)
        types = _types(text) if _HAS_TYPE.search(commit.text) else []
        if len(types) >= FEWEST_TYPES and types[0] not in commit.text:
            commit.text = f"{commit.text} The type is one of: {', '.join(types[:MOST_TYPES])}"
        best["commit"] = commit
    return list(best.values())


def _types(text: str) -> list[str]:
    """Return the types of commits that a table or a list below the heading "Type" names: "FIX", "DOCS"."""
    found: list[str] = []
    is_below = False
    for line in text.splitlines():
        if line.startswith("#"):
            is_below = bool(_OF_TYPES.match(line))
        elif is_below and (row := _TYPE_ROW.match(line)):
            found.append(row[1] or row[2])
    return found


def _with_its_section(best: Convention, found: list[Unit]) -> Convention:
    """Return the convention for commits together with the next rules of its section, if that is about commits.

    Such a section has several rules (how the subject begins, how an issue is referenced), of which a commit needs each.
    """
    unit = next(one for one in found if one.line == best.line and one.text == best.text)
    if not unit.headings or not _HEADINGS[best.action].search(unit.headings[0]):
        return best
    rules = [one for one in found if one.headings == unit.headings and (one is unit or _is_rule_of_commits(one.text))]
    rules.sort(key=lambda one: (one is not unit, not _QUOTES.search(one.text), one.line))
    kept: list[Unit] = []
    for one in rules:
        if sum(len(other.text) for other in kept) + len(one.text) <= LONGEST_SECTION or not kept:
            kept.append(one)
    kept = sorted(kept[:MOST_OF_A_SECTION], key=lambda one: one.line)
    return Convention(best.action, " ".join(one.text for one in kept), kept[0].line, best.score)


def _is_rule_of_commits(text: str) -> bool:
    is_order = _ORDERS_OR_RULES.search(text) or _IMPERATIVE.search(text)
    return bool(is_order) and _is_of_this_project(text) and not (_EMPTY.search(text) or _POINTS_BACK.search(text))


def _score(action: str, unit: Unit, prior: float, name: str) -> float:
    if action == "ai-policy" and prior < FOR_CONTRIBUTORS:  # AGENTS.md is for agents
        return 0.0
    if action == "pull-request" and unit.headings and _LATER.search(unit.headings[0]):
        return 0.0
    if action in NOT_IN_RELEASING and any(map(_ON_RELEASES.search, unit.headings[:2])):
        return 0.0
    # A sentence about something else may end with a remark that commits are signed off.
    beginning = unit.text if action == "sign-off" else unit.text[:WHAT_IT_IS_ABOUT].partition(" because ")[0]
    named = bool(_WORDS[action].search(beginning))
    nearest = bool(_HEADINGS[action].search(f"{unit.headings[0] if unit.headings else ''} {name}"))
    above = any(_HEADINGS[action].search(heading) for heading in unit.headings[1:])
    if action == "commit" and unit.headings and _CONVENTIONS.fullmatch(unit.headings[0]):
        above = True
    # Any document but a README may be about such actions as a whole, so its headings need not name the action.
    if not (named and (nearest or above or prior >= _OTHER_PRIOR)) and not (nearest and action in HEADING_SUFFICES):
        return 0.0
    is_then = _is_order_with_occasion(action, unit.text, is_under_heading=nearest)
    if action == "pull-request" and not (named or is_then):  # such a section has many other rules
        return 0.0
    shows = _SHOWN.search(unit.text) or _TELLS.search(unit.text)
    is_shown = nearest and action in HEADING_SUFFICES and bool(shows)
    orders = is_then or is_shown or bool(_IMPERATIVE.search(unit.text))
    is_rule = is_then or bool(_ORDERS_OR_RULES.search(unit.text))
    is_rule = is_rule or (action in MAY_BE_HABITS and bool(_HABIT.search(unit.text)))
    is_about = named or (nearest and action in HEADING_SUFFICES and bool(_ABSOLUTE.search(unit.text)))
    if not (orders or (is_rule and is_about)) or _EMPTY.search(unit.text) or not _is_of_this_project(unit.text):
        return 0.0
    if _does_not_explain(action, unit.text, orders=orders):
        return 0.0
    is_on_message = action == "commit" and bool(_ON_MESSAGE.search(beginning))
    score = prior + is_on_message + 3.0 * named + 3.0 * nearest + 1.0 * above + 1.0 * is_rule + 1.0 * orders
    score += 0.5 * bool(_QUOTES.search(unit.text)) + 0.5 * (": " in unit.text and unit.text.endswith(";"))  # a list
    return score - 1.5 * (len(unit.text) < 45 and not (is_rule and "`" in unit.text))  # a short one rarely explains how


def _does_not_explain(action: str, text: str, *, orders: bool) -> bool:
    if action == "pull-request" and not orders and not _DEMANDS.search(text):
        return True
    if action == "sign-off" and _NO_SIGN_OFF.search(text):
        return True
    if action == "changelog" and _NEEDS_NONE.search(text):
        return True
    if action == "release" and _ONLY_TESTS.search(text):
        return True
    if text.endswith(("\u2026", "...")):  # "please make sure that the following is done…"
        return True
    if action == "commit" and (_TESTS_FIRST.search(text) or "config --global" in text):  # Git has been set up by now
        return True
    return bool(_POINTS_BACK.search(text)) or (bool(_REFERS.search(text)) and not PATH.search(text))


def _is_order_with_occasion(action: str, text: str, *, is_under_heading: bool) -> bool:
    """Return whether a sentence says what must be done before ``action`` or together with it, or how on some occasion.

    Examples are "Before you open a pull request, run `make check`" and "If there is an issue, begin the commit message
    with its number". Under a heading about the action, "before" need not name it again: "Before you submit, run …".
    """
    when = _WHEN.match(text)
    if when is None or not _IMPERATIVE.search(when[2]):
        return False
    told = f"{when[1]}, {when[2][:WHAT_IT_IS_ABOUT]}" if action in IN_STYLE_GUIDES else when[1]
    return bool(_WORDS[action].search(told)) or (is_under_heading and when[1].lower().startswith("before "))


def _is_of_this_project(text: str) -> bool:
    """Return whether a sentence is specific to this project, unlike a rule that applies to any project."""
    own = {word for word in _WORD.findall(text.lower()) if word not in _EVERYWHERE}
    return bool(CONCRETE.search(text)) or len(own) >= LEAST_OWN_WORDS

"""Find the time that a Chinese or Japanese sentence mentions, and what the sentence is about.

These languages put no spaces between words. The hook loads this module only for prompts in other than ASCII letters.
"""

from __future__ import annotations

import time

from enricher.prompt.wording.times.mentions import TROUBLE, WORK
from enricher.prompt.wording.times.periods import DAY, HOUR, ago, time_of_date, window, year_of_date

_PERIODS = (
    ("day", -2, "前天 一昨日 おととい"), ("day", -1, "昨天 昨日 きのう"), ("night", -1, "昨晚 昨夜 昨晩"),
    ("day", 0, "今天 今早 今日 今朝 きょう"), ("week", -1, "上周 上个星期 上星期 上个礼拜 上礼拜 先週"),
    ("week", 0, "本周 这周 这个星期 今週"), ("month", -1, "上个月 上月 先月"), ("month", 0, "这个月 本月 今月"),
    ("recent", 0, "最近"),
)  # fmt: skip
_AGO = (
    ("天前", DAY), ("日前", DAY), ("周前", 7 * DAY), ("週間前", 7 * DAY), ("小时前", HOUR), ("時間前", HOUR),
)  # fmt: skip
_JAPANESE_DAYS, _CHINESE_DAYS = "月火水木金土日", "一二三四五六日"
_DONE = ("做了", "改了", "改动", "修改", "提交", "变了", "变化", "更新", "发生", "合并", "发布", "添加", "删除", "完成", "变更", "コミット", "修正",
               "変更", "追加", "マージ", "リリース", "やった", "した", "しました", "変わ", "起き")  # fmt: skip
_PEOPLE = (
    "总结", "列出", "看看", "まとめ", "見せて", "教えて", "我们", "我", "你", "什么", "哪些", "谁", "何", "誰", "どの", "私", "僕", "コミット", "提交",
)  # fmt: skip
_FOR_TROUBLE = ("坏", "失败", "报错", "不能", "不工作", "出错", "出问题", "变慢", "还好好", "还能", "还正常", "壊れ", "失敗", "エラー", "動かな",
                  "動かなく", "動いて", "遅く", "おかし")  # fmt: skip
_SCREENS = "筛选 过滤 列 按钮 页面 标签 字段 图表 报表 フィルタ ボタン ページ ラベル 表示 画面 レポート".split()


def time_in(lowered: str, now: float) -> tuple[float, float, bool] | None:
    """Return the time that a sentence mentions, as (start, end, whether it lasts until now); None if there is none."""
    for kind, offset, forms in _PERIODS:
        for form in forms.split():
            at = lowered.find(form)
            if at >= 0:
                after = lowered[at + len(form) :][:2]
                is_since = lowered[at - 1 : at] in ("从", "自") or after in ("から", "以来", "以後", "开始")
                return (*window(kind, offset, now), is_since or kind == "recent")
    return _date(lowered, now)


def _date(lowered: str, now: float) -> tuple[float, float, bool] | None:
    """Do the same for a date (2026年3月2日, 3月), a distance from today (两天前, 3日前) and a day of the week (周一)."""
    for sign, seconds in _AGO:
        number = _number_before(lowered, lowered.find(sign))
        if number:
            return (*ago(number * seconds, seconds, now), False)
    for number, (japanese, chinese) in enumerate(zip(_JAPANESE_DAYS, _CHINESE_DAYS, strict=True)):
        if f"{japanese}曜" in lowered or f"周{chinese}" in lowered or f"星期{chinese}" in lowered:
            back = (time.localtime(now)[6] - number) % 7
            return (*window("day", -back, now), "から" in lowered or "从" in lowered)
    month = _number_before(lowered, at := lowered.find("月"))
    if not 0 < month < 13:
        return None
    year = _number_before(lowered, lowered.find("年"))
    day = _number_before(lowered, max(lowered.find("日", at), lowered.find("号", at)))
    year = year if year > 1970 else year_of_date(month, day, now)
    return (*time_of_date(year, month, day if day < 32 else 0), "以来" in lowered or "から" in lowered)


def _number_before(text: str, at: int) -> int:
    before = text[: max(at, 0)]
    if digits := before[len(before.rstrip("0123456789")) :]:
        return int(digits[:4])  # a year has four
    last = before[-1:] or " "
    return 2 if last in "两二" else max(0, "〇一二三四五六七八九十".find(last))


def topic(lowered: str) -> str:
    """Return what a sentence that mentions a time is about: WORK, TROUBLE, or empty for anything else."""
    if any(one in lowered for one in _FOR_TROUBLE):
        return TROUBLE
    if any(one in lowered for one in _SCREENS):
        return ""
    is_done = any(one in lowered for one in _DONE)
    return WORK if is_done and any(one in lowered for one in _PEOPLE) else ""

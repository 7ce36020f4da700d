"""Transcripts as the four clients write them: the shapes that their real files have, line by line."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_numbers = count(1)


class Transcript:
    """A session as it happened, told once and written in each client's own form."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def lines(self) -> list[str]:
        return [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in self.records]

    def save(self, file: Path, *, end: str = "\n") -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(self.lines()) + end, encoding="utf-8")
        return file


class Claude(Transcript):
    """``~/.claude/projects/<slug>/<session>.jsonl``."""

    def add(self, kind: str, **fields: Any) -> None:
        number = next(_numbers)
        common = {
            "parentUuid": f"u-{number - 1}", "isSidechain": False, "userType": "external", "cwd": "/p",
            "version": "2.1.329", "gitBranch": "main", "uuid": f"u-{number}", "timestamp": "2026-11-21T10:00:00.000Z",
        }  # fmt: skip
        self.records.append(common | {"type": kind} | fields)

    def asks(self, text: Any, **fields: Any) -> None:
        self.add("queue-operation", operation="enqueue", content=text)
        self.add("user", message={"role": "user", "content": text}, promptSource="cli", **fields)

    def answers(self, text: str, *, of: str = "") -> None:
        identity = of or f"msg_{next(_numbers)}"
        content = [{"type": "text", "text": text}]
        self.add("assistant", message={"id": identity, "role": "assistant", "model": "sonnet", "content": content})

    def uses(self, tool: str, result: str = "ok", *, is_error: bool = False, rich: Any = None, **given: Any) -> None:
        identity = f"toolu_{next(_numbers)}"
        call = [{"type": "tool_use", "id": identity, "name": tool, "input": given}]
        self.add("assistant", message={"id": f"msg_{identity}", "role": "assistant", "content": call})
        block = {"type": "tool_result", "tool_use_id": identity, "content": result, "is_error": is_error}
        self.add("user", message={"role": "user", "content": [block]}, toolUseResult=rich or {"type": "text"})

    def compacts(self) -> None:
        self.add(
            "system", subtype="compact_boundary", content="Conversation compacted", compactMetadata={"trigger": "auto"}
        )
        summary = "This session is being continued from a previous conversation that ran out of context."
        self.add("user", message={"role": "user", "content": summary}, isCompactSummary=True)


class Gemini(Transcript):
    """``~/.gemini/tmp/<project>/chats/session-<ts>-<id>.jsonl``."""

    def __init__(self) -> None:
        super().__init__()
        self.records.append(
            {"sessionId": "g-1", "projectHash": "h", "startTime": "2026-11-21T10:00:00Z", "kind": "main"}
        )
        opening = "<session_context>\nThis is the Gemini CLI. Today is Saturday.\n</session_context>"
        first = {"id": f"m{next(_numbers)}", "type": "user", "content": [{"text": opening}]}
        self.records.append({"$set": {"messages": [first]}})

    def asks(self, text: str) -> None:
        shown = [{"text": text}]
        sent = [*shown, {"text": "<hook_context>context of a hook</hook_context>"}]
        self.records.append({"id": f"m{next(_numbers)}", "type": "user", "content": sent, "displayContent": shown})

    def answers(self, text: str) -> None:
        self.records.append(
            {"id": f"m{next(_numbers)}", "type": "gemini", "content": text, "thoughts": [], "model": "g"}
        )

    def uses(self, tool: str, result: str = "ok", *, is_error: bool = False, **given: Any) -> None:
        said = {"error" if is_error else "output": result}
        answer = [{"functionResponse": {"id": "c", "name": tool, "response": said}}]
        call = {"id": "c", "name": tool, "args": given, "result": answer, "status": "error" if is_error else "success"}
        record = {"id": f"m{next(_numbers)}", "type": "gemini", "content": "", "toolCalls": [call]}
        self.records += [{**record, "toolCalls": []}, record]  # written again once the tool has answered


class Codex(Transcript):
    """``~/.codex/sessions/YYYY/MM/DD/rollout-<ts>-<thread>.jsonl``."""

    def __init__(self) -> None:
        super().__init__()
        self.add("session_meta", id="thread", cwd="/p", cli_version="0.169.0")
        environment = "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>"
        self.message("user", environment, kinds=["environment_context"])

    def add(self, kind: str, **payload: Any) -> None:
        number = next(_numbers)
        self.records.append(
            {"timestamp": f"2026-11-21T10:00:{number % 60:02d}Z", "ordinal": number, "type": kind, "payload": payload}
        )

    def message(self, role: str, text: str, *, kinds: list[str]) -> None:
        form = "output_text" if role == "assistant" else "input_text"
        self.add(
            "response_item",
            type="message",
            role=role,
            content=[{"type": form, "text": text}],
            internal_chat_message_metadata_passthrough={"content_item_kinds": kinds},
        )

    def asks(self, text: str) -> None:
        self.add(
            "event_msg",
            type="item_completed",
            item={"type": "UserMessage", "content": [{"type": "text", "text": text}]},
        )
        self.message("user", text, kinds=["user.text"])
        self.message("developer", "context of a hook", kinds=["hooks.additional_context"])

    def answers(self, text: str) -> None:
        self.message("assistant", text, kinds=["assistant.text"])

    def uses(self, tool: str, result: str = "ok", *, is_error: bool = False, **given: Any) -> None:
        arguments = json.dumps(given)
        self.add("response_item", type="function_call", name=tool, arguments=arguments, call_id="c")
        output = f"Process exited with code {int(is_error)}\nOutput:\n{result}"
        self.add("response_item", type="function_call_output", call_id="c", output=output)


class Copilot(Transcript):
    """``~/.copilot/session-state/<id>/events.jsonl``."""

    def add(self, kind: str, **data: Any) -> None:
        number = next(_numbers)
        self.records.append(
            {
                "type": kind,
                "data": data,
                "id": f"e{number}",
                "timestamp": "2026-11-21T10:00:00Z",
                "parentId": f"e{number - 1}",
            }
        )

    def asks(self, text: str) -> None:
        self.add("user.message", content=text, transformedContent=f"<current_datetime>x</current_datetime>\n\n{text}")
        self.add("hook.start", hookType="userPromptSubmitted", input={"prompt": text})

    def answers(self, text: str) -> None:
        self.add("assistant.message", messageId=f"m{next(_numbers)}", content=text, toolRequests=[])

    def uses(self, tool: str, result: str = "ok", *, is_error: bool = False, **given: Any) -> None:
        self.add(
            "assistant.message",
            messageId="",
            content="",
            toolRequests=[{"toolCallId": "c", "name": tool, "arguments": given}],
        )
        self.add("tool.execution_start", toolCallId="c", toolName=tool, arguments=given)
        outcome = {"error": {"message": result}} if is_error else {"result": {"content": result}}
        self.add("tool.execution_complete", toolCallId="c", success=not is_error, **outcome)

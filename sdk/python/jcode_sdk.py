"""Drives jcode: starts the program and speaks with it over its standard input and output. Needs nothing but Python 3.10."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import IO, Any

Event = dict[str, Any]
Answer = dict[str, Any]

__all__ = ["Answer", "Event", "JcodeError", "Question", "Session", "Tool", "sessions"]


class JcodeError(Exception):
    """What jcode says of something that it did not do. kind is invalid, refused, gone, busy, failed or ended."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def _ended() -> JcodeError:
    return JcodeError("ended", "jcode has ended")


class Question:
    """Something that waits for an answer: an approval, a question of the model, or a form."""

    def __init__(self, event: Event) -> None:
        asked = event.get("question") or event.get("form") or event
        if not isinstance(asked, dict):
            asked = event
        self.kind: str = {"approval_asked": "approval", "ask": "ask", "form": "form"}[event["type"]]
        self.id: str = event["id"]
        self.text: str = asked.get("title") or asked.get("text") or ""
        self.tool: str = asked.get("tool") or ""
        self.command: str = asked.get("command") or ""
        self.diff: str = asked.get("diff") or ""
        self.options: list[Any] = asked.get("options") or []
        self.event = event

    def _scoped(self, scope: str) -> int | None:
        for at, option in enumerate(self.options):
            if isinstance(option, dict) and option.get("scope") == scope:
                return at
        return None

    def allow(self) -> Answer:
        """Lets a call run, this once."""
        at = self._scoped("once")
        return self.deny() if at is None else self.choose(at)

    def choose(self, option: int) -> Answer:
        """Takes an option of an approval by its place."""
        return {"type": "answer", "id": self.id, "option": option}

    def deny(self, why: str = "") -> Answer:
        """Refuses, and tells the model why."""
        if self.kind == "ask":
            return self.reply(why or "Nobody answers: decide yourself, and say what you decided.")
        if self.kind == "form":
            return {"type": "fill", "id": self.id, "action": "decline"}
        at = self._scoped("no")
        return {"type": "interrupt"} if at is None else {"type": "answer", "id": self.id, "option": at, "word": why}

    def reply(self, text: str) -> Answer:
        """Answers a question of the model."""
        return {"type": "reply", "id": self.id, "text": text}

    def fill(self, values: Mapping[str, Any]) -> Answer:
        """Fills in a form."""
        return {"type": "fill", "id": self.id, "action": "accept", "values": dict(values)}


_SERVER = "app"  # the name of the MCP server as which the tools of this program are served


@dataclass(frozen=True)
class Tool:
    """A function of this program that the model may call: mcp:app:NAME in rules and questions.

    run gets the arguments and returns a text. It runs in a thread of its own, beside others; what it raises is read by the
    model. schema is a JSON Schema of the arguments, an object; read_only says that it changes nothing."""

    name: str
    run: Callable[[dict[str, Any]], str]
    description: str = ""
    schema: Mapping[str, Any] | None = None
    read_only: bool = False


class _Lent:
    """Serves the tools of this program."""

    def __init__(self, tools: Sequence[Tool], write: Callable[[dict[str, Any]], None]) -> None:
        self._tools = tools
        self._write = write
        self._lock = threading.Lock()
        self._running: set[Any] = set()  # requests whose answer is wanted

    def receive(self, message: dict[str, Any]) -> None:
        """Does what a message says, and does not wait."""
        if message.get("method") == "notifications/cancelled":
            with self._lock:
                self._running.discard((message.get("params") or {}).get("requestId"))
        if "id" in message and "method" in message:
            with self._lock:
                self._running.add(message["id"])
            threading.Thread(target=self._do, args=(message,), daemon=True).start()

    def _do(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        result = self._result(message["method"], message.get("params") or {})
        if result is None:
            answer["error"] = {"code": -32601, "message": "there is no " + message["method"]}
        else:
            answer["result"] = result
        with self._lock:
            wanted = message["id"] in self._running
            self._running.discard(message["id"])
        if wanted:
            try:
                self._write({"type": "mcp", "server": _SERVER, "message": answer})
            except JcodeError:
                pass  # the end of the output says so, too

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "initialize":
            version = params.get("protocolVersion")
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": _SERVER, "version": "1"}}
        if method == "ping":
            return {}
        if method == "tools/list":
            return {
                "tools": [
                    {"name": t.name, "description": t.description, "inputSchema": t.schema or {"type": "object"}, "annotations": {"readOnlyHint": t.read_only}}
                    for t in self._tools
                ]
            }
        return self._call(params) if method == "tools/call" else None

    def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        try:
            tool = next((t for t in self._tools if t.name == params.get("name")), None)
            if tool is None:
                raise LookupError(f"there is no tool {params.get('name')}")
            return {"content": [{"type": "text", "text": str(tool.run(params.get("arguments") or {}))}]}
        except Exception as err:  # the model reads it
            return {"content": [{"type": "text", "text": str(err) or type(err).__name__}], "isError": True}


class Session:
    """A conversation. It may be used by several threads, and ends with its with block."""

    def __init__(
        self,
        *,
        model: str = "",
        mode: str = "",
        role: str = "",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        schema: Mapping[str, Any] | None = None,
        resume: str = "",
        fork: bool = False,
        args: Sequence[str] = (),
        program: str = "jcode",
        on_question: Callable[[Question], Answer | None] | None = None,
        tools: Sequence[Tool] = (),
        stderr: int | IO[Any] | None = subprocess.DEVNULL,
    ) -> None:
        """Starts jcode, and returns when it takes prompts."""
        line = [program, "-p", "--input-format", "stream-json", "--output-format", "stream-json"]
        for name, value in (("model", model), ("mode", mode), ("role", role)):
            if value:
                line += ["--" + name, value]
        if schema is not None:
            line += ["--output-schema", json.dumps(schema)]
        if resume:
            line.append("--resume=" + resume)
        if fork:
            line.append("--fork")
        self.id, self.model = "", ""
        self._on_question = on_question
        self._lent = _Lent(tools, self._write)
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # not _lock: what comes is read meanwhile, or both sides could wait for each other
        self._over = False
        self._last = 0
        self._calls: dict[str, Future[Any]] = {}
        self._readers: list[queue.SimpleQueue[Event | None]] = []
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._begun: Future[None] = Future()
        self._child = subprocess.Popen(
            [*line, *args], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8", errors="replace", bufsize=1
        )
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._answer)]
        for thread in self._threads:
            thread.start()
        try:
            self._begun.result()
            if tools:
                self.do("serve", name=_SERVER, trusted=True)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # not a line of the protocol
            if event.get("type") == "init" and not self.id:
                self.id, self.model = event["session_id"], event.get("model", "")
                self._begun.set_result(None)
            elif event.get("type") == "result" and not self.id:
                if not self._begun.done():
                    self._begun.set_exception(JcodeError("failed", event.get("error", "")))
            else:
                self._take(event)
        with self._lock:
            self._over = True
            calls, self._calls = list(self._calls.values()), {}
            readers = list(self._readers)
        if not self._begun.done():
            self._begun.set_exception(_ended())
        for call in calls:
            call.set_exception(_ended())
        for reader in readers:
            reader.put(None)
        self._questions.put(None)

    def _take(self, event: Event) -> None:
        if event.get("type") == "mcp":
            self._lent.receive(event["message"])
            return
        if event.get("type") == "response":
            with self._lock:
                call = self._calls.pop(event.get("request", ""), None)
            if call is None:
                return
            if event.get("ok"):
                call.set_result(event.get("result") or {})
            else:
                call.set_exception(JcodeError(event.get("kind", "failed"), event.get("error", "")))
            return
        if event.get("type") in ("approval_asked", "ask", "form"):
            self._questions.put(Question(event))
        with self._lock:
            readers = list(self._readers)
        for reader in readers:
            reader.put(event)

    def _answer(self) -> None:
        while (question := self._questions.get()) is not None:
            answer: Answer | None = None
            if self._on_question is not None:
                try:
                    answer = self._on_question(question)
                except Exception:  # what fails is no yes
                    answer = None
            fields = dict(answer if answer is not None else question.deny())
            try:
                self.do(fields.pop("type"), **fields)
            except JcodeError:
                pass  # another window may have been faster

    def do(self, type: str, /, **fields: Any) -> dict[str, Any]:
        """Writes a line of a type with its fields, and returns its result. docs/scripting.md lists the types."""
        call: Future[Any] = Future()
        with self._lock:
            if self._over:
                raise _ended()
            self._last += 1
            request = str(self._last)
            self._calls[request] = call
        try:
            self._write({**fields, "type": type, "request": request})
        except JcodeError:
            with self._lock:
                self._calls.pop(request, None)
            raise
        return call.result()

    def _write(self, line: dict[str, Any]) -> None:
        try:
            with self._writing:
                assert self._child.stdin is not None
                self._child.stdin.write(json.dumps(line) + "\n")
                self._child.stdin.flush()
        except (OSError, ValueError):
            raise _ended() from None

    def prompt(self, text: str) -> Iterator[Event]:
        """Sends a prompt and yields what happens up to its result, which is the last event."""
        reader: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        with self._lock:
            self._readers.append(reader)
        try:
            queued = self.do("prompt", text=text)
            if not queued.get("id"):  # a command that did all there was to do
                yield {"type": "result", "ok": True, "text": queued.get("said", ""), "session_id": self.id}
                return
            while True:
                event = reader.get()
                if event is None:
                    raise _ended()
                if event.get("type") == "unsent" and event.get("queued") == queued["id"]:
                    raise JcodeError("failed", event.get("error", ""))
                yield event
                if event.get("type") == "result" and queued["id"] in (event.get("prompt_ids") or []):
                    return
        finally:
            with self._lock:
                self._readers.remove(reader)

    def ask(self, text: str) -> Event:
        """Sends a prompt and returns its result alone."""
        last: Event = {}
        for event in self.prompt(text):
            last = event
        return last

    def interrupt(self) -> None:
        """Ends the running turn."""
        self.do("interrupt")

    def set_mode(self, mode: str) -> None:
        """Sets how much is allowed unasked."""
        self.do("set", mode=mode)

    def set_model(self, model: str) -> None:
        """Sets the model."""
        self.do("set", model=model)

    def close(self) -> int:
        """Ends the input, waits for the end of what runs, and returns the exit code."""
        assert self._child.stdin is not None and self._child.stdout is not None
        with self._writing:
            try:
                self._child.stdin.close()
            except OSError:
                pass  # it has ended before
        code = self._child.wait()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        self._child.stdout.close()
        return code


def sessions(*, cwd: str | None = None, env: Mapping[str, str] | None = None, program: str = "jcode") -> list[dict[str, Any]]:
    """Lists the sessions of a folder, the last one first."""
    done = subprocess.run([program, "sessions", "list", "--json"], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise JcodeError("failed", done.stderr.strip())
    return json.loads(done.stdout)

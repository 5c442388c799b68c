"""Plays one exchange of the conformance test with this library: reads the exchange, and prints what came of each step
as a line of JSON."""

import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
sys.dont_write_bytecode = True
from jcode_sdk import JcodeError, Session, Tool, sessions  # noqa: E402

exchange = json.load(sys.stdin)
asked: list[str] = []


def on_question(question):
    asked.append(question.kind)
    answer = exchange["answers"][len(asked) - 1] if len(asked) <= len(exchange["answers"]) else None
    if answer is None:
        return None
    if answer.get("allow"):
        return question.allow()
    return question.reply(answer["text"]) if "text" in answer else question.deny(answer["deny"])


options = {"mode": exchange.get("mode", ""), "schema": exchange.get("schema"), "stderr": None}
if "answers" in exchange:
    options["on_question"] = on_question

def lend(given):
    def run(args):
        if given.get("waits"):
            threading.Event().wait()
        if given.get("fails"):
            raise ValueError(given["fails"])
        return given.get("answer", "").replace("ARGS", args.get("q", ""))

    return Tool(given["name"], run, description=given["name"], schema=given.get("schema"), read_only=given.get("read_only", False))


options["tools"] = [lend(given) for given in exchange.get("tools", [])]

session = Session(**options)
for step in exchange["steps"]:
    out: dict = {}
    if "prompt" in step:
        asked.clear()
        tools = []
        try:
            for event in session.prompt(step["prompt"]):
                if event["type"] == "tool_call":
                    tools.append(event["name"])
                if event["type"] == step.get("interrupt_at"):
                    session.interrupt()
                if event["type"] == "result":
                    out = {"ok": event["ok"], "text": event.get("text"), "error": event.get("error"), "structured": event.get("structured_output")}
        except JcodeError as err:
            out = {"ok": False, "kind": err.kind}
        out |= {"tools": tools, "asked": list(asked)}
    elif "do" in step:
        try:
            out = {"ok": True, "has": list(session.do(step["do"], **step.get("fields", {})))}
        except JcodeError as err:
            out = {"ok": False, "kind": err.kind}
    elif "list" in step:
        out = {"ok": True, "count": len(sessions())}
    else:
        before = session.id
        session.close()
        session = Session(**options, resume=before, fork=step.get("fork", False))
        out = {"ok": True, "same": session.id == before}
    print(json.dumps(out), flush=True)
session.close()

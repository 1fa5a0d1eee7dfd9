"""Hooks of MassGen for the tests, as its YAML names them: module.function."""

import asyncio
import sys
import threading
import time
from dataclasses import dataclass, field

CONSTANT = 1


@dataclass
class HookResult:
    decision: str = "allow"
    reason: str | None = None
    updated_input: dict | None = None
    inject: dict | None = None
    hook_errors: list = field(default_factory=list)
    executed_hooks: list = field(default_factory=list)


def protect(event):
    if event.tool_input.get("path", "").startswith("/etc/"):
        return {"decision": "deny", "reason": f"{event['hook_type']}: {event.tool_name} must not touch {event.tool_input['path']}"}


async def rewrite_async(event):
    await asyncio.sleep(0)
    return HookResult(updated_input={"path": "sandbox/" + event.tool_input["path"]})


def remind(event):
    return HookResult(inject={"content": f"saw {event.tool_output}", "strategy": "user_message"})


def chatty(event):
    print('{"decision": "deny", "reason": "this is only talk"}')
    sys.stderr.write("talk\n")
    return {"decision": "ask", "reason": "sure?"}


def broken(event):
    raise ValueError("no such rule")


def leaves(event):
    sys.exit(71)


def returns_set(event):
    return {1, 2}


def leaves_thread(event):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return {"decision": "deny", "reason": "frozen"}

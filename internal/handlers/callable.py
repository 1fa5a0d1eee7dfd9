# Calls one Python function for gate: callable.py DIRECTORY MODULE FUNCTION.
# The event is on standard input, the result goes to standard output.
import sys

# What lies in the working directory may be the agent's own.
sys.path[:] = [p for p in [sys.argv[1]] + sys.path if p]

import asyncio
import dataclasses
import importlib
import inspect
import json
import os

NOT_IMPORTED = 71


class Event(dict):
    """The event, with its fields as keys and as attributes; those that it does not have are None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)


def plain(result):
    """The result as what JSON can hold."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    if hasattr(result, "to_dict"):
        return result.to_dict()
    if hasattr(result, "model_dump"):
        return result.model_dump()
    return result


async def awaited(result):
    return await result


def main():
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the function prints is no answer
    event = Event(json.load(sys.stdin))
    try:
        function = getattr(importlib.import_module(sys.argv[2]), sys.argv[3])
        if not callable(function):
            raise TypeError("it is not callable")
    except BaseException as e:
        print(f"{sys.argv[2]}.{sys.argv[3]} cannot be imported: {type(e).__name__}: {e}", file=sys.stderr)
        return NOT_IMPORTED
    try:
        result = function(event)
        if inspect.isawaitable(result):
            result = asyncio.run(awaited(result))
        text = "" if result is None else json.dumps(plain(result))
    except BaseException as e:
        print(f"{sys.argv[2]}.{sys.argv[3]} raised {type(e).__name__}: {e}", file=sys.stderr)
        return 1
    answer.write(text)
    answer.close()
    return 0


status = main()
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)  # threads that it left are no reason to wait

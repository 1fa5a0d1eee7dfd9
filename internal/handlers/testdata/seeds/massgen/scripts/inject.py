#!/usr/bin/env python3
import json
import sys

event = json.load(sys.stdin)
print(json.dumps({"inject": {"content": f"{event['hook_type']} {event['tool_name']}: {event['tool_output']}"}}))

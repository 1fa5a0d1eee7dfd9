import sys, json
ctx = json.load(sys.stdin)
cmd = ctx.get('tool_input', {}).get('command', '')
# Reject dangerous commands
if any(d in cmd for d in ['rm -rf /', 'sudo rm', ':(){:|:&};:']):
    print(json.dumps({'Reject': {'reason': 'Dangerous command blocked'}}))
    sys.exit(0)
print(json.dumps('Continue'))

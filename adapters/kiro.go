package adapters

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"gate/hook"
	"gate/internal/strictjson"
)

// kiro speaks the hook protocol of the Kiro CLI, versions 2 and 3, as its maker
// documents it. Only the status counts.
var kiro = agent{
	name: "kiro", wait: 30 * time.Second, server: kiroServer, render: (*reply).byStatus,
	events: []eventWord{
		{native: "PreToolUse", can: rejects},
		{native: "preToolUse", name: hook.PreToolUse, can: rejects},
		{native: "PostToolUse"},
		{native: "postToolUse", name: hook.PostToolUse},
		{native: "UserPromptSubmit", can: rejects},
		{native: "userPromptSubmit", name: hook.UserPromptSubmit, can: rejects},
		{native: "SessionStart"},
		{native: "agentSpawn", name: hook.SessionStart},
		{native: "Stop"},
		{native: "stop", name: hook.Stop},
		{native: "PreTaskExec"},
		{native: "PostTaskExec"},
	},
	tools: []toolWord{
		{native: "execute_bash", own: "Bash"},
		{native: "shell", own: "Bash"},
		{native: "execute_cmd", own: "Bash"},
		{native: "fs_write", own: "fs_write", open: openEditor},
		{native: "write", own: "fs_write", open: openEditor},
		{native: "fs_read", own: "fs_read", open: openReads},
		{native: "read", own: "fs_read", open: openReads},
		{native: "web_fetch", own: "WebFetch"},
		{native: "web_search", own: "WebSearch"},
		{native: "glob", own: "Glob"},
		{native: "grep", own: "Grep"},
		{native: "use_aws", own: "use_aws", open: openAWS},
		{native: "aws", own: "use_aws", open: openAWS},
	},
}

// openAWS makes a request to AWS the call of the program that Kiro starts for it,
// with the same words. One that says no operation stays what it is.
func openAWS(input map[string]any, _ string) (string, map[string]any, error) {
	service, _ := input["service_name"].(string)
	operation, _ := input["operation_name"].(string)
	if service == "" || operation == "" {
		return "use_aws", input, nil
	}
	words := []string{"aws"}
	for _, option := range []struct{ field, name string }{{"region", "--region"}, {"profile_name", "--profile"}} {
		if value, ok := input[option.field].(string); ok {
			words = append(words, option.name, value)
		} else if input[option.field] != nil {
			return "", nil, fmt.Errorf("%s: %s where a string is wanted", option.field, strictjson.TypeName(input[option.field]))
		}
	}
	words = append(words, service, operation)
	parameters, ok := input["parameters"].(map[string]any)
	if !ok && input["parameters"] != nil {
		return "", nil, fmt.Errorf("parameters: %s where an object is wanted", strictjson.TypeName(input["parameters"]))
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		words = append(words, "--"+kebabCase(strings.TrimLeft(name, "-")))
		value, ok := parameters[name].(string)
		if !ok {
			value = string(strictjson.Append(nil, parameters[name]))
		}
		if value != "" {
			words = append(words, value)
		}
	}
	return "Bash", map[string]any{"command": lineOf(words)}, nil
}

// kebabCase is a parameter's name as an option has it: InstanceIds is instance-ids.
func kebabCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == ' ':
			r = '-'
		case unicode.IsUpper(r) && i > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// openReads makes a read of one file the call of the tool for that. Facts look
// at each of several.
func openReads(input map[string]any, _ string) (string, map[string]any, error) {
	if operations, ok := input["operations"].([]any); ok && len(operations) == 1 {
		if one, ok := operations[0].(map[string]any); ok {
			if file, ok := one["path"].(string); ok && one["mode"] != "Directory" {
				return "Read", map[string]any{"file_path": file}, nil
			}
		}
		return "fs_read", input, nil
	}
	if err := rename(input, pairsOf("path=file_path"), ""); err != nil {
		return "", nil, err
	}
	if input["file_path"] == nil {
		return "fs_read", input, nil
	}
	return "Read", input, nil
}

// kiroServer names the tool of an MCP server.
func kiroServer(tool string, _ map[string]any) (string, bool) {
	rest, ok := strings.CutPrefix(tool, "@")
	server, name, cut := strings.Cut(rest, "/")
	return serverTool(server, name), ok && cut && server != "" && name != ""
}

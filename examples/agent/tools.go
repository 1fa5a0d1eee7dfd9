package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"

	"gate/pipeline"
)

// script is the model: it always wants the same.
func script() iter.Seq[pipeline.Call] {
	want := func(tool, input string) pipeline.Call { return pipeline.Call{Tool: tool, Input: []byte(input)} }
	return slices.Values([]pipeline.Call{
		want("Write", `{"file_path": "notes.txt", "content": "tidy up\nand then some\n"}`),
		want("Read", `{"file_path": "notes.txt"}`),
		want("Read", `{"path": "notes.txt"}`),
		want("Read", `{"file_path": "missing.txt"}`),
		want("Bash", `{"command": "ls"}`),
		want("Bash", `{"command": "rm notes.txt"}`),
		want("Bash", `{"command": "echo done"}`),
		want("Bash", `{"command": "rm -rf ~"}`),
		want("Bash", `{"command": "ls && git push"}`),
		want("Browse", `{}`),
	})
}

// tools are three, named as gate knows them: their files are below root.
func tools(root *os.Root) []pipeline.Tool {
	return []pipeline.Tool{
		{
			Name: "Read",
			Schema: []byte(`{"type": "object", "additionalProperties": false, "required": ["file_path"],
				"properties": {"file_path": {"type": "string"}}}`),
			Run: func(_ context.Context, input map[string]any) (any, error) {
				f, err := root.Open(input["file_path"].(string)) // the schema says that it is there
				if err != nil {
					return nil, err
				}
				defer f.Close()
				text, err := io.ReadAll(io.LimitReader(f, 64<<10))
				return string(text), err
			},
		},
		{
			Name: "Write",
			Schema: []byte(`{"type": "object", "additionalProperties": false, "required": ["file_path", "content"],
				"properties": {"file_path": {"type": "string"}, "content": {"type": "string"}}}`),
			Run: func(_ context.Context, input map[string]any) (any, error) {
				text := input["content"].(string)
				f, err := root.Create(input["file_path"].(string))
				if err != nil {
					return nil, err
				}
				_, err = f.WriteString(text)
				if closed := f.Close(); err == nil {
					err = closed
				}
				return fmt.Sprintf("%d bytes", len(text)), err
			},
		},
		{
			Name: "Bash",
			Schema: []byte(`{"type": "object", "additionalProperties": false, "required": ["command"],
				"properties": {"command": {"type": "string", "maxLength": 1000}}}`),
			Run: func(ctx context.Context, input map[string]any) (any, error) {
				cmd := exec.CommandContext(ctx, "sh", "-c", input["command"].(string))
				cmd.Dir = root.Name()
				out, err := cmd.CombinedOutput()
				return string(out), err
			},
		},
	}
}

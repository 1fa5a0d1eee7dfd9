package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/internal/install"
)

// Codex says itself which hooks it would run: its app-server lists them, with the
// trust that it has in each, and needs no model for it.

// A codexHook is a hook as Codex lists it.
type codexHook struct {
	EventName   string `json:"eventName"`
	Command     string `json:"command"`
	SourcePath  string `json:"sourcePath"`
	Enabled     bool   `json:"enabled"`
	IsManaged   bool   `json:"isManaged"`
	TrustStatus string `json:"trustStatus"` // trusted, untrusted, modified, managed
}

// codexWait is how long a Codex may take to start and to list its hooks.
const codexWait = 20 * time.Second

// codexSays asks the Codex of the person's PATH about gate's hook before a call.
func codexSays(ctx context.Context, p process, m install.Machine, b *strings.Builder) []install.Finding {
	program := codexProgram(p, m)
	if program == "" {
		fmt.Fprintln(b, "codex is not in PATH, so nobody could ask it about its hooks")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, codexWait)
	defer cancel()
	hooks, err := codexHooks(ctx, program, m.Project)
	if err != nil {
		fmt.Fprintf(b, "codex did not answer about its hooks: %s\n", oneLine(err.Error()))
		return nil
	}
	found, runs := false, false
	for _, h := range hooks {
		if h.EventName != "preToolUse" || !strings.Contains(h.Command, "--agent codex") {
			continue
		}
		found = true
		runs = runs || h.Enabled && (h.IsManaged || h.TrustStatus == "trusted" || h.TrustStatus == "managed")
		fmt.Fprintf(b, "codex itself: %s has gate's hook before a call, %s%s\n", visible(p.tilde(h.SourcePath)), visible(h.TrustStatus), map[bool]string{false: ", switched off"}[h.Enabled])
	}
	switch {
	case !found:
		return []install.Finding{{ID: "gate.live", Severity: install.Error, Agent: "codex", Message: "Codex itself knows of no hook of gate's before a call", Remedy: "gate install codex"}}
	case !runs:
		return []install.Finding{{ID: "gate.live", Severity: install.Error, Agent: "codex", Message: "Codex itself does not run gate's hook before a call",
			Remedy: "gate install codex --trust-hooks at a terminal, with the scope that it is installed in, or trust it in Codex (/hooks)"}}
	}
	return nil
}

// codexProgram is the first codex of PATH that does not lie in the project, where
// an agent could have put it; "" if there is none.
func codexProgram(p process, m install.Machine) string {
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		program, err := exec.LookPath(filepath.Join(dir, "codex"))
		if err != nil || !filepath.IsAbs(program) {
			continue
		}
		real, err := filepath.EvalSymlinks(program)
		if err != nil || m.Project != "" && m.Project != m.Home && (inDir(program, m.Project) || inDir(real, m.Project)) {
			continue
		}
		return program
	}
	return ""
}

func inDir(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// codexHooks lists the hooks that Codex would look at in a directory.
func codexHooks(ctx context.Context, program, dir string) ([]codexHook, error) {
	cmd := exec.CommandContext(ctx, program, "app-server")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	hooks, err := askCodex(in, bufio.NewReader(io.LimitReader(out, 16<<20)), dir)
	in.Close()
	if ctx.Err() != nil {
		err = errors.New("no answer in time")
	}
	if wait := cmd.Wait(); err == nil && hooks == nil {
		err = wait
	}
	return hooks, err
}

// askCodex speaks to an app-server, a message a line.
func askCodex(in io.Writer, out *bufio.Reader, dir string) ([]codexHook, error) {
	call := func(id int, method string, params, result any) error {
		message := map[string]any{"method": method, "params": params}
		if id > 0 {
			message["id"] = id
		}
		line, err := json.Marshal(message)
		if err != nil {
			return err
		}
		if _, err := in.Write(append(line, '\n')); err != nil || id == 0 {
			return err
		}
		for {
			line, err := out.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			var answer struct {
				ID     any
				Method string
				Result json.RawMessage
				Error  *struct{ Message string }
			}
			if json.Unmarshal(line, &answer) != nil || answer.Method != "" || fmt.Sprint(answer.ID) != fmt.Sprint(id) {
				continue // what it tells besides
			}
			if answer.Error != nil {
				return fmt.Errorf("%s: %s", method, answer.Error.Message)
			}
			return json.Unmarshal(answer.Result, result)
		}
	}
	var ready any
	if err := call(1, "initialize", map[string]any{"clientInfo": map[string]any{"name": "gate", "title": "gate doctor", "version": "1"}}, &ready); err != nil {
		return nil, err
	}
	if err := call(0, "initialized", map[string]any{}, nil); err != nil {
		return nil, err
	}
	var list struct {
		Data []struct{ Hooks []codexHook }
	}
	if err := call(2, "hooks/list", map[string]any{"cwds": []string{dir}}, &list); err != nil {
		return nil, err
	}
	hooks := []codexHook{}
	for _, d := range list.Data {
		hooks = slices.Concat(hooks, d.Hooks)
	}
	return hooks, nil
}

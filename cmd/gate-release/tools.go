package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// fetching are the settings of the go tool that say where modules and toolchains come
// from and lie. They are a machine's, whereas checksums hold what comes: any other
// setting could change what is built.
var fetching = []string{
	"GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPATH", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTMPDIR", "GOTOOLCHAIN", "GOVCS",
}

// buildEnv are settings of the go tool that programs depend on; provenance states them.
// Without cgo a program is static: nothing preloads into it (LD_PRELOAD), and the account
// database is read as it stands.
var buildEnv = []string{"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOENV=off", "GOWORK=off"}

// environ is the environment of what a release runs, made of this process's.
func (r *Release) environ(ctx context.Context) ([]string, error) {
	if r.env != nil {
		return r.env, nil
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, fetching...)...)
	cmd.Dir, cmd.Stderr = r.Tree, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var known map[string]string
	if err := json.Unmarshal(out, &known); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), changes)
	for _, name := range fetching {
		if value := known[name]; value != "" {
			env = append(env, name+"="+value)
		}
	}
	r.env = append(append(env, buildEnv...), "LC_ALL=C", "TZ=UTC")
	return r.env, nil
}

// changes reports a variable that could have the go tool build otherwise, or git look at
// another tree.
func changes(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch {
	case strings.HasPrefix(name, "GO"), strings.HasPrefix(name, "CGO_"), strings.HasPrefix(name, "LC_"):
		return true
	}
	return slices.Contains([]string{"LANG", "LANGUAGE", "TZ", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE"}, name)
}

// git returns what a command of git prints in the tree.
func (r *Release) git(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, nil, "git", args...)
	return strings.TrimSpace(string(out)), err
}

// run runs a program in the tree, with variables added to the environment, and returns
// what it prints.
func (r *Release) run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	return r.feed(ctx, nil, env, name, args...)
}

// feed is run with something on standard input.
func (r *Release) feed(ctx context.Context, input []byte, env []string, name string, args ...string) ([]byte, error) {
	base, err := r.environ(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.Tree
	cmd.Env = append(slices.Clone(base), env...)
	cmd.Stdin = bytes.NewReader(input)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(append(problem.Bytes(), out...)))
	}
	return out, nil
}

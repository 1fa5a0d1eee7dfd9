package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A set is also measured as a signed bundle that an administrator put into the
// system's managed directory. That is in a root directory of the set's own, which
// only root can have.

// root is that directory, "" where there can be none.
func (s *set) root() string {
	if os.Geteuid() != 0 {
		return ""
	}
	return filepath.Join(s.dir, "root")
}

// inRoot is the path of a program within such a directory.
func inRoot(program string) string { return "/usr/bin/" + program }

// bundled signs the policies and has them in force within the root directory.
func (s *set) bundled(ctx context.Context) error {
	root, work := s.root(), filepath.Join(s.dir, "release")
	if root == "" {
		return nil
	}
	err := errors.Join(
		writePolicies(filepath.Join(work, "company", "bench"), s.n),
		files(work, map[string]string{"company/.manifest": `{"roots": ["bench"], "metadata": {"gate": {"name": "company", "version": 1}}}`}),
		files(root, map[string]string{"etc/gate/settings.json": withoutLibrary, "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "tmp/none": ""}),
		os.MkdirAll(filepath.Join(root, s.lab.dir), 0o755), // where the calls say they are made
	)
	for _, program := range []string{"gate", "gate-hook", "gate-server", "peak"} { // there is no /proc, by which gate finds gate-server
		data, readErr := os.ReadFile(s.lab.tool(program))
		to := filepath.Join(root, inRoot(program))
		err = errors.Join(err, readErr, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o755))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.lab.log, "%d policies: gate bundle install\n", s.n)
	gate := s.lab.tool("gate")
	for _, step := range []struct {
		root string
		args []string
	}{
		{"", []string{gate, "keys", "generate", "root"}},
		{"", []string{gate, "keys", "generate", "release"}},
		{"", []string{gate, "keys", "add", "root", "root.pub.pem", "--root", "--key", "root=root.pem"}},
		{"", []string{gate, "keys", "add", "release", "release.pub.pem", "--bundle", "company", "--key", "root=root.pem"}},
		{"", []string{gate, "bundle", "build", "company", "-o", filepath.Join(root, "company.tar.gz")}},
		{"", []string{gate, "bundle", "sign", filepath.Join(root, "company.tar.gz"), "--keys", "keys.json", "--key", "release=release.pem"}},
		{"", []string{"cp", "keys.json", filepath.Join(root, "etc", "gate", "keys.json")}},
		{root, []string{inRoot("gate-server"), "bundle", "install", "/company.tar.gz"}},
		{root, []string{inRoot("gate"), "build"}},
	} {
		cmd := exec.CommandContext(ctx, step.args[0], step.args[1:]...)
		cmd.Dir = work
		within(cmd, step.root)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", step.args, err, text)
		}
	}
	return nil
}

// governed are the calls of a machine on which the bundle is in force.
func (s *set) governed() []candidate {
	if s.root() == "" {
		return nil
	}
	list := s.lab.calls("")[:3]
	for i := range list {
		list[i].name += ", signed bundle"
		list[i].root, list[i].args = s.root(), []string{inRoot("gate-hook"), "--agent", "claude", "--event", "PreToolUse"}
	}
	return list
}

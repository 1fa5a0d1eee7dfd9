package policies_test

import (
	"testing"

	"gate/hook"
)

// TestScripts calls scripts that are there by their paths: what they surely do
// counts, and what is not known of them is nobody's question.
func TestScripts(t *testing.T) {
	decide := decider(t)
	for name, c := range map[string]struct {
		script string
		want   hook.Effect
	}{
		"deletes everything":       {"#!/bin/sh\nset -e\nrm -rf /\n", hook.Deny},
		"deletes what it is given": {"#!/usr/bin/env bash\nrm -rf \"$1\"\n", hook.Deny},
		"without a first line":     {"git push --force origin main\n", hook.Deny},
		"calls itself":             {"#!/bin/bash\n./scripts/x.sh /etc\nrm -rf ~\n", hook.Deny},
		"builds":                   {"#!/bin/bash\nset -euo pipefail\ncd \"$(dirname \"$0\")/..\"\nrm -rf \"${OUT:-build}\"\ngo build ./...\n", hook.Pass},
		"is not understood":        {"#!/bin/sh\neval \"$SETUP\"\n\"$JAVA_HOME/bin/java\" \"$@\"\nrm -f \"$TMP\"/x\n", hook.Pass},
		"mentions":                 {"#!/bin/sh\n# rm -rf /\necho 'never run rm -rf /'\n", hook.Pass},
		"is another language":      {"#!/usr/bin/perl\nrm -rf /\n", hook.Pass},
		"reaches limits":           {"#!/bin/sh\nwhile :; do while :; do a=$a$a; done; done\n", hook.Pass},
	} {
		for _, line := range []string{"./scripts/x.sh /etc", "cd scripts && ./x.sh /etc", "/home/dev/project/scripts/x.sh /etc"} {
			d := decide(map[string]any{"bash": line, "files": map[string]any{"/home/dev/project/scripts/x.sh": c.script}})
			if d.Effect != c.want {
				t.Errorf("%s: %s: got %s, want %s: %q", name, line, d.Effect, c.want, said(d))
			}
		}
	}
}

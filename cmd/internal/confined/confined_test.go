package confined

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/confine/profile"
	"gate/internal/confine/record"
)

// TestParse holds how arguments are read: flags stand before the program, and what is not
// understood runs nothing.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		args string
		want flags
		err  string
	}{
		{args: "-- make -k", want: flags{profile: "project", argv: []string{"make", "-k"}}},
		{args: "--profile look -- ls --profile x", want: flags{profile: "look", argv: []string{"ls", "--profile", "x"}}},
		{args: "--profile=look --project=/p --line ls", want: flags{profile: "look", project: "/p", line: "ls"}},
		{args: "make", err: `"make" is no flag; a program stands behind --`},
		{args: "--profile", err: "--profile needs a value"},
		{args: "--profile= -- ls", err: "--profile needs a value"},
		{args: "--unconfined -- ls", err: `"--unconfined" is no flag`},
		{args: "--state-dir /s --call ID", want: flags{}},
		{args: "--call ID --line ls", err: "--call takes all else from its record"},
		{args: "--call ID -- ls", err: "--call takes all else from its record"},
		{args: "--call ID --profile project-net", err: "--call takes all else from its record"},
		{args: "--", err: "give either --line or"},
		{args: "--line ls -- ls", err: "give either --line or"},
		{args: "", err: "give either --line or"},
	} {
		got, err := parse(strings.Fields(c.args))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.args, err, c.err)
			}
			continue
		}
		same := got.profile == c.want.profile && got.project == c.want.project && got.line == c.want.line && slices.Equal(got.argv, c.want.argv)
		if err != nil || !same {
			t.Errorf("%s: %+v %v", c.args, got, err)
		}
	}
}

// TestRefused holds that a profile that is not there runs nothing, with a status of its
// own.
func TestRefused(t *testing.T) {
	var said strings.Builder
	status := Run(Process{Args: []string{"--profile", "everything", "--", "true"}, Env: []string{"HOME=/home/dev"}, Stderr: &said})
	if status != Refused || !strings.Contains(said.String(), `there is no profile "everything"; there are project, project-net, look`) {
		t.Errorf("status %d: %s", status, said.String())
	}
}

// TestCall holds that a call without a record runs nothing, and that the record of one
// that cannot run here is gone.
func TestCall(t *testing.T) {
	state := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := func(id string) (int, string) {
		var said strings.Builder
		status := Run(Process{Args: []string{"--state-dir", state, "--call", id}, Env: []string{"HOME=/home/dev"}, Now: func() time.Time { return now }, Stderr: &said})
		return status, said.String()
	}
	profile, _ := profile.Builtin("look")
	id, err := record.Keep(record.Dir(state), record.Record{Profile: profile, Line: "echo ran", Dir: "/elsewhere", Expires: now.Add(time.Minute)}, now)
	if err != nil {
		t.Fatal(err)
	}
	if status, said := run(id); status != Refused || !strings.Contains(said, "the record is for /elsewhere, and this is ") {
		t.Errorf("status %d: %s", status, said)
	}
	if status, said := run(id); status != Refused || !strings.Contains(said, "there is no record "+id) {
		t.Errorf("status %d: %s", status, said)
	}
}

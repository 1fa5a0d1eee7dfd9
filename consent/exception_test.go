package consent_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"gate/consent"
	"gate/hook"
)

// except is an exception that is right, changed by pairs of field and value;
// nil removes a field.
func except(changes ...any) map[string]any {
	m := map[string]any{
		"policy": "acme.push", "if": "Bash(git push origin main)", "project": "/home/ada/site", "until": "2026-12-31",
		"owner": "ada@example.org", "reason": "release week, OPS-17",
	}
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == nil {
			delete(m, changes[i].(string))
		} else {
			m[changes[i].(string)] = changes[i+1]
		}
	}
	return m
}

var owners = map[string]hook.Authority{
	"acme.push": hook.User, "corp.push": hook.Managed, "gate.git.force_push": hook.User, "gate.self.write": hook.User,
	"gate.selfish": hook.User, "repo.rule": hook.Project, "own.rule": hook.Local, "plug.rule": hook.PluginAuthor, "skill.rule": hook.SkillAuthor,
}

func from(by hook.Authority) consent.Settings {
	return consent.Settings{
		By: by, File: "settings.json", Project: "/home/ada/site", Now: noon, Forbidden: []string{"gate.self", "gate.secrets."},
		Owner: func(id string) (hook.Authority, bool) { a, ok := owners[id]; return a, ok },
	}
}

func TestReadExceptions(t *testing.T) {
	for _, row := range []struct {
		name string
		v    any
		want string // "" for active, "over", or words of the error
	}{
		{"right", except(), ""},
		{"a moment", except("until", "2026-11-21T13:00:00+01:00"), "over"},
		{"a later moment", except("until", "2026-11-21T13:00:01+01:00"), ""},
		{"today counts to its end", except("until", "2026-11-21"), ""},
		{"yesterday", except("until", "2026-11-20"), "over"},
		{"a day that YAML has read", except("until", time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)), ""},
		{"a moment that TOML has read", except("until", noon), "over"},
		{"a year", except("until", "2027-11-21"), ""},
		{"several conditions", except("if", []any{"Bash(a)", "Read(/x)"}), ""},
		{"no condition", except("if", nil), ""},
		{"no project", except("project", nil), ""},
		{"of the library", except("policy", "gate.git.force_push"), ""},
		{"forbidden but exact", except("policy", "gate.self.write", "if", "Bash(gate doctor --fix)"), ""},
		{"forbidden file", except("policy", "gate.self.write", "if", "Edit(//home/ada/site/.claude/settings.json)"), ""},
		{"named like a class", except("policy", "gate.selfish", "if", "Bash(x:*)"), ""},

		{"text", "acme.push", "not an object"},
		{"unknown field", except("forever", true), `unknown field "forever"`},
		{"no policy", except("policy", nil), "policy is missing"},
		{"policy of two", except("policy", []any{"acme.push"}), "policy is an array"},
		{"all policies", except("policy", "*"), "without wildcards"},
		{"a group", except("policy", "acme.*"), "without wildcards"},
		{"alternatives", except("policy", "{acme.push,corp.push}"), "without wildcards"},
		{"unknown policy", except("policy", "acme.pusch"), `no policy "acme.pusch"`},
		{"upper case", except("policy", "Acme.Push"), `no policy`},
		{"managed policy", except("policy", "corp.push"), "user settings cannot except a policy of managed authority"},
		{"no end", except("until", nil), "every exception ends"},
		{"never", except("until", "never"), "a day like"},
		{"a number", except("until", 20271231), "a day like"},
		{"empty", except("until", ""), "a day like"},
		{"zero time", except("until", time.Time{}), "a day like"},
		{"too far", except("until", "2027-11-24"), "more than a year"},
		{"for ever", except("until", "9999-12-31"), "more than a year"},
		{"nobody", except("owner", " "), "somebody has to answer"},
		{"no owner", except("owner", nil), "owner is missing"},
		{"no reason", except("reason", "\n"), "reason is empty"},
		{"relative project", except("project", "site"), "absolute path"},
		{"home", except("project", "~/site"), "absolute path"},
		{"any project", except("project", "/home/*/site"), "absolute path"},
		{"project with dots", except("project", "/home/ada/site/../x"), "absolute path"},
		{"project with a slash", except("project", "/home/ada/site/"), "absolute path"},
		{"everything", except("project", nil, "if", nil), "set the policy's level"},
		{"empty condition", except("if", " "), "not a condition"},
		{"no conditions", except("if", []any{}), "leave it out"},
		{"condition of another type", except("if", map[string]any{}), "not a condition"},
		{"a novel", except("reason", strings.Repeat("x", 9000)), "8 KiB"},
		{"forbidden and wide", except("policy", "gate.self.write", "if", "Bash(gate:*)"), "exact calls only"},
		{"forbidden and star", except("policy", "gate.self.write", "if", "Edit(//home/ada/*)"), "exact calls only"},
		{"forbidden and a name alone", except("policy", "gate.self.write", "if", "Edit(settings.json)"), "exact calls only"},
		{"forbidden below any home", except("policy", "gate.self.write", "if", "Edit(~/.claude/settings.json)"), "exact calls only"},
		{"forbidden tool", except("policy", "gate.self.write", "if", "Bash"), "exact calls only"},
		{"forbidden among others", except("policy", "gate.self.write", "if", []any{"Bash(gate doctor)", "Bash()"}), "exact calls only"},
		{"forbidden everywhere", except("policy", "gate.self.write", "project", nil), "in one project only"},
		{"forbidden for all calls", except("policy", "gate.self.write", "if", nil), "in one project only"},
	} {
		active, over, err := consent.ReadExceptions([]any{row.v}, from(hook.User))
		switch {
		case row.want == "" && (err != nil || len(active) != 1), row.want == "over" && (err != nil || len(over) != 1 || len(active) != 0):
			t.Errorf("%s: %v, %v, %v", row.name, active, over, err)
		case row.want != "" && row.want != "over":
			if err == nil || len(active)+len(over) != 0 || !strings.HasPrefix(err.Error(), "settings.json: exception 1: ") || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v, %v, %v, want %q", row.name, active, over, err, row.want)
			}
		}
	}
}

// All mistakes come at once, and the rest holds.
func TestReadExceptionsAll(t *testing.T) {
	active, over, err := consent.ReadExceptions([]any{except("owner", ""), except(), except("until", "2020-01-01"), 7}, from(hook.User))
	if len(active) != 1 || len(over) != 1 || err == nil || !strings.Contains(err.Error(), "exception 1: owner") || !strings.Contains(err.Error(), "exception 4: it is a") {
		t.Errorf("%v, %v, %v", active, over, err)
	}
	if active, over, err := consent.ReadExceptions(nil, from(hook.User)); active != nil || over != nil || err != nil {
		t.Errorf("nothing: %v, %v, %v", active, over, err)
	}
	if _, _, err := consent.ReadExceptions(map[string]any{}, from(hook.User)); err == nil {
		t.Error("an object")
	}
	if _, _, err := consent.ReadExceptions(make([]any, 1001), from(hook.User)); err == nil || !strings.Contains(err.Error(), "1000 are allowed") {
		t.Errorf("too many: %v", err)
	}
	// Settings that say nothing except nothing.
	if active, _, err := consent.ReadExceptions([]any{except()}, consent.Settings{}); len(active) != 0 || err == nil {
		t.Errorf("zero settings: %v, %v", active, err)
	}
}

// TestMayExcept holds who stands above whom (DESIGN 8).
func TestMayExcept(t *testing.T) {
	all := []hook.Authority{0, hook.Managed, hook.User, hook.PluginAuthor, hook.Project, hook.Local, hook.SkillAuthor, 99}
	may := map[hook.Authority]string{
		hook.Managed: "managed user plugin project local skill", hook.User: "user plugin project local skill",
		hook.Project: "project", hook.Local: "local",
	}
	for _, by := range all {
		var got []string
		for _, owner := range all {
			if consent.MayExcept(by, owner) {
				got = append(got, owner.String())
			}
		}
		if strings.Join(got, " ") != may[by] {
			t.Errorf("%s excepts %v, want %q", by, got, may[by])
		}
	}
	for id, by := range map[string]hook.Authority{"repo.rule": hook.Project, "own.rule": hook.Local} {
		if _, _, err := consent.ReadExceptions([]any{except("policy", id)}, from(by)); err != nil {
			t.Errorf("%s settings: %v", by, err)
		}
		for _, project := range []any{nil, "/home/ada/other"} {
			if _, _, err := consent.ReadExceptions([]any{except("policy", id, "project", project)}, from(by)); err == nil || !strings.Contains(err.Error(), "own project only") {
				t.Errorf("%s settings about %v: %v", by, project, err)
			}
		}
	}
}

func TestApplies(t *testing.T) {
	list, _, err := consent.ReadExceptions([]any{except()}, from(hook.User))
	if err != nil {
		t.Fatal(err)
	}
	x := list[0]
	end := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name, policy string
		owner        hook.Authority
		project      string
		now          time.Time
		matched      bool
		want         bool
	}{
		{"right", "acme.push", hook.User, "/home/ada/site", noon, true, true},
		{"last moment", "acme.push", hook.User, "/home/ada/site", end.Add(-1), true, true},
		{"expired", "acme.push", hook.User, "/home/ada/site", end, true, false},
		{"no time", "acme.push", hook.User, "/home/ada/site", time.Time{}, true, false},
		{"other policy", "acme.push2", hook.User, "/home/ada/site", noon, true, false},
		{"below the policy", "acme.push.x", hook.User, "/home/ada/site", noon, true, false},
		{"no policy", "", hook.User, "/home/ada/site", noon, true, false},
		{"same id, managed", "acme.push", hook.Managed, "/home/ada/site", noon, true, false},
		{"no authority", "acme.push", 0, "/home/ada/site", noon, true, false},
		{"other project", "acme.push", hook.User, "/home/ada/site2", noon, true, false},
		{"below the project", "acme.push", hook.User, "/home/ada/site/x", noon, true, false},
		{"no project", "acme.push", hook.User, "", noon, true, false},
		{"no match", "acme.push", hook.User, "/home/ada/site", noon, false, false},
	} {
		if got := x.Applies(row.policy, row.owner, row.project, row.now, row.matched); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
	if (consent.Exception{}).Applies("", 0, "", noon, true) || (consent.Exception{Policy: "a", By: hook.Managed, Until: end}).Applies("a", hook.User, "", noon, true) {
		t.Error("an exception of everything applies")
	}
}

// line makes the facts of a shell line whose commands are words joined by blanks.
func line(commands ...string) *hook.Facts {
	f := &hook.Facts{Shell: &hook.Shell{Dialect: "bash"}}
	for i, c := range commands {
		words := strings.Fields(c)
		cmd := hook.ShellCommand{ID: i + 1}
		for _, w := range words {
			cmd.Words = append(cmd.Words, hook.Word{Value: &w})
		}
		cmd.Program = cmd.Words[0].Value
		f.Shell.Commands = append(f.Shell.Commands, cmd)
		f.Paths = append(f.Paths, hook.Path{Command: i + 1, Raw: c})
	}
	return f
}

// TestMatches holds that an exception for one command does not carry another.
func TestMatches(t *testing.T) {
	x := consent.Exception{If: []string{"git push origin main", "make test"}}
	// holds stands in for the matcher: any command of the line has these words.
	holds := func(i int, part *hook.Event) bool {
		if part.Facts.Shell == nil {
			return part.Tool() == "Read"
		}
		for _, c := range part.Facts.Shell.Commands {
			var words []string
			for _, w := range c.Words {
				words = append(words, *w.Value)
			}
			if strings.Join(words, " ") == x.If[i] {
				return len(part.Facts.Paths) == 1 && part.Facts.Paths[0].Command == c.ID
			}
		}
		return false
	}
	opaque, unknown, redirected := line("make test"), line("make test"), line("make test", "cd /etc")
	opaque.Opaque = true
	unknown.Unknown = []hook.Unknown{{Kind: "word"}}
	redirected.Shell.Commands[1].Redirects = []hook.Redirect{{Op: ">"}}
	for _, row := range []struct {
		name  string
		facts *hook.Facts
		tool  string
		want  bool
	}{
		{"alone", line("git push origin main"), "Bash", true},
		{"from a directory", line("cd /home/ada/site", "git push origin main"), "Bash", true},
		{"both", line("make test", "git push origin main"), "Bash", true},
		{"and another push", line("git push origin main", "git push origin prod"), "Bash", false},
		{"and another program", line("make test", "rm -rf /"), "Bash", false},
		{"only a directory", line("cd /"), "Bash", false},
		{"nothing", line(), "Bash", false},
		{"a directory and a file", redirected, "Bash", false},
		{"opaque", opaque, "Bash", false},
		{"unknown", unknown, "Bash", false},
		{"no facts", nil, "Bash", false},
		{"a tool without a line", &hook.Facts{}, "Read", true},
		{"another tool", &hook.Facts{}, "Write", false},
	} {
		ev := hook.Event{Fields: map[string]any{"tool_name": row.tool}, Facts: row.facts}
		if got := x.Matches(&ev, holds); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
	if !(consent.Exception{}).Matches(&hook.Event{}, holds) {
		t.Error("without conditions every call matches")
	}
}

// FuzzReadExceptions holds that whatever comes out is bounded, owned and
// explained, and never wider than what was written.
func FuzzReadExceptions(f *testing.F) {
	f.Add("acme.push", "Bash(x)", "/home/ada/site", "2026-12-31", "ada", "why", byte(2))
	f.Add("gate.self.write", "Bash(x:*)", "", "9999-12-31", "", "\x00", byte(1))
	f.Fuzz(func(t *testing.T, policy, cond, project, until, owner, reason string, by byte) {
		in := map[string]any{"policy": policy, "if": cond, "project": project, "until": until, "owner": owner, "reason": reason}
		before := maps.Clone(in)
		s := from(hook.Authority(by))
		active, over, err := consent.ReadExceptions([]any{in}, s)
		if len(active)+len(over) != 1 && err == nil || len(active)+len(over) > 1 {
			t.Fatalf("%v, %v, %v", active, over, err)
		}
		if fmt.Sprint(in) != fmt.Sprint(before) {
			t.Fatal("the settings were changed")
		}
		for _, x := range append(active, over...) {
			if _, known := owners[x.Policy]; !known || x.Policy != policy || !consent.MayExcept(s.By, owners[policy]) ||
				strings.TrimSpace(x.Owner) == "" || strings.TrimSpace(x.Reason) == "" || x.Until.Sub(noon) > 367*24*time.Hour {
				t.Fatalf("%+v", x)
			}
			if s.By != hook.Managed && x.Applies(policy, hook.Managed, project, noon, true) {
				t.Fatalf("%+v excepts a managed policy", x)
			}
			if x.Applies(policy, owners[policy], project, x.Until, true) || x.Applies(policy, owners[policy], "/elsewhere", noon, true) && project != "" {
				t.Fatalf("%+v is too wide", x)
			}
		}
	})
}

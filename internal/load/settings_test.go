package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

func authorityOf(name string) hook.Authority {
	for a := hook.Managed; a.Valid(); a++ {
		if a.String() == name {
			return a
		}
	}
	return 0
}

// TestSettingsCases reads the settings in testdata/settings: the first word of
// the comment says whose they are, or that it is a plugin, a skill or a
// directory that is read.
func TestSettingsCases(t *testing.T) {
	names, err := filepath.Glob("testdata/settings/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree, want := fstest.MapFS{}, -1
			for i, f := range ar.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				tree[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			kind, _, _ := strings.Cut(string(ar.Comment), ":")
			skill := scopes.Source{Name: "skill:deploy", Scope: hook.Skill, Authority: hook.SkillAuthor}
			var got string
			switch kind {
			case "directory":
				got = describeAll(load.Dir(tree, scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed}))
			case "plugin":
				got = describeAll(load.Plugin(tree, "fmt", false, false))
			case "foreign plugin":
				got = describeAll(load.Plugin(tree, "fmt", false, true))
			case "skill":
				got = describeAll(load.Skill("SKILL.md", tree["SKILL.md"].Data, skill, false))
			case "foreign skill":
				got = describeAll(load.Skill("SKILL.md", tree["SKILL.md"].Data, skill, true))
			case "foreign agent":
				got = describeAll(load.Agent("SKILL.md", tree["SKILL.md"].Data, skill, true))
			case "file":
				got = describeAll(load.File("hooks.yaml", tree["hooks.yaml"].Data, scopes.Source{Name: "registered:1", Scope: hook.Session, Authority: hook.Project}))
			default:
				got = describeSettings(load.Settings(tree, "etc", authorityOf(kind)))
			}
			if *update {
				ar.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(ar.Files[want].Data) {
				t.Errorf("%s--- got ---\n%s--- want ---\n%s", ar.Comment, got, ar.Files[want].Data)
			}
		})
	}
}

func describeSettings(c load.Configuration) string {
	var b strings.Builder
	settings, err := setting.Combine(c.Layers...)
	if err != nil {
		fmt.Fprintf(&b, "combine: %v\n", err)
	}
	set, err := scopes.New(nil, settings)
	if err != nil {
		return err.Error()
	}
	for _, r := range set.Explain() {
		fmt.Fprintf(&b, "%s %s = %s", r.Pos, r.Key, strictjson.Append(nil, r.Value))
		if r.Why != "" && r.Why != "there is no such policy here" {
			fmt.Fprintf(&b, " (%s)", r.Why)
		}
		b.WriteByte('\n')
	}
	if c.Source != nil {
		b.WriteString(describeAll(*c.Source))
	}
	return b.String()
}

func describeAll(src scopes.Source) string {
	text := fmt.Sprintf("source %s, %s, %s\n", src.Name, src.Scope, src.Authority)
	text += describe(src)
	for _, note := range src.Notes {
		text += "note " + note + "\n"
	}
	for _, h := range src.Hooks {
		if h.Kind == hook.Rego {
			continue
		}
		text += fmt.Sprintf("handler %s %s %s once=%v async=%v", h.ID, h.Kind, strictjson.Append(nil, h.Config), h.Once, h.Async)
		if h.Consult {
			text += " consult"
		}
		if h.Recheck != nil {
			text += fmt.Sprintf(" recheck=%v", *h.Recheck)
		}
		text += "\n"
	}
	return text
}

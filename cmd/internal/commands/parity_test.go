package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate"
	"gate/cmd/internal/document"
	"gate/engine"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/hookpath"
	"gate/internal/places"
	"gate/internal/serve"
	"gate/internal/session"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/pipeline"
)

// A way answers the events of a corpus one after the other, on a machine of its own.
type way func(t *testing.T, m *machine) func(data []byte, ev hook.Event) said

// said is what a way says about one event: the decision, or what an agent reads.
type said struct {
	decision *hook.Decision
	answer   string
}

// agentless are the ways without a memory of sessions: they are about one event.
var agentless = []string{"eval", "gate.New"}

var ways = map[string]way{
	"gate hook": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		m.filesOnly = true
		return m.agentsWay
	},
	"gate hook, compiled": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		m.gate(nil, false, "build", m.project) // what is broken has no form
		return m.agentsWay
	},
	"gate-hook": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		m.gate(nil, false, "build", m.project) // what is broken has no form
		return func(data []byte, _ hook.Event) said {
			cmd := exec.Command("gate-hook", m.hookFlags()...)
			cmd.Env = append(cmd.Environ(), m.env...)
			var out, err bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &out, &err
			cmd.Run()
			return said{answer: wholeAnswer(out.Bytes(), err.Bytes(), cmd.ProcessState.ExitCode())}
		}
	},
	"serve": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		a := m.answerer()
		return func(data []byte, _ hook.Event) said {
			return said{decision: a.decide(t.Context(), serve.Question{Agent: "generic", Body: data}).Decision}
		}
	},
	"mcp": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		w := &watch{keeper: setup.NewKeeper(true), Options: setup.Options{For: sources.For{Machine: m.process().machine(m.dirs(), m.project), Live: true, Foreign: true}}}
		return func(_ []byte, ev hook.Event) said {
			d := w.decide(t.Context(), ev)
			return said{decision: &d}
		}
	},
	"eval": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		e, err := evalFlags{dirs: m.flags(), agent: "generic", run: true}.evaluation(m.process())
		if err != nil {
			t.Fatal(err)
		}
		return func(data []byte, _ hook.Event) said {
			d, _ := e.decide(t.Context(), data)
			return said{decision: &d}
		}
	},
	"gate.New": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		g := m.embedded(t)
		return func(_ []byte, ev hook.Event) said {
			ev.Gate.Now = time.Now()
			d := g.Decide(t.Context(), ev)
			return said{decision: &d}
		}
	},
	"pipeline": func(t *testing.T, m *machine) func([]byte, hook.Event) said {
		var response any
		o := pipeline.Options{Session: "s", Dir: filepath.ToSlash(m.project), Memory: m.dirs().Sessions().Of(session.Key{Agent: "generic", Session: "s"})}
		for _, name := range strings.Fields("Bash Write WebFetch Notes mcp__tracker__create_issue mcp__tracker__comment mcp__tracker__close mcp__tracker__list") {
			o.Tools = append(o.Tools, pipeline.Tool{Name: name, Run: func(context.Context, map[string]any) (any, error) { return response, nil }})
		}
		p, err := m.embedded(t).Pipeline(o)
		if err != nil {
			t.Fatal(err)
		}
		return func(_ []byte, ev hook.Event) said {
			if ev.Name != hook.PreToolUse && ev.Name != hook.PostToolUse {
				r, _ := p.Fire(t.Context(), ev.Name, ev.Fields)
				return said{decision: &r.Decisions[0]}
			}
			input, err := json.Marshal(ev.ToolInput())
			if err != nil {
				t.Fatal(err)
			}
			response = ev.Fields["tool_response"]
			if ev.Name == hook.PreToolUse {
				response = nil
			}
			r, _ := p.Call(t.Context(), pipeline.Call{ID: ev.Text("tool_use_id"), Tool: ev.Tool(), Input: input})
			if i := slices.IndexFunc(r.Decisions, func(d hook.Decision) bool { return d.Event == ev.Name }); i >= 0 {
				return said{decision: &r.Decisions[i]}
			}
			return said{answer: "the pipeline has no decision"}
		}
	},
}

func (m *machine) flags() places.Flags {
	return places.Flags{Managed: filepath.Join(m.dir, "managed"), User: filepath.Join(m.dir, "user"), State: filepath.Join(m.dir, "state")}
}

func (m *machine) dirs() places.Dirs {
	d, err := m.flags().ForHook()
	if err != nil {
		m.t.Fatal(err)
	}
	return d
}

func (m *machine) hookFlags() []string { return append(dirArgs(m.flags()), "--agent=generic") }

func (m *machine) process() process {
	return process{env: m.env, filesOnly: m.filesOnly, exit: func(status int) { m.t.Errorf("the process would exit with %d", status) }}
}

// agentsWay answers as gate hook does.
func (m *machine) agentsWay(data []byte, _ hook.Event) (told said) {
	p := m.process()
	var out, errors bytes.Buffer
	status := hookpath.Run(m.t.Context(), hookpath.Process{
		Args: m.hookFlags(), Stdin: bytes.NewReader(data), Stdout: &out, Stderr: &errors, LookupEnv: p.lookupEnv, Exit: p.exit, Account: places.Self,
		Told: func(d *hook.Decision, _ bool) { told.decision = d },
	}, func(c *hookpath.Call) (*core.Gate, error) {
		g, err := p.load(c)
		if err != nil {
			return nil, err
		}
		return g.Gate, nil
	})
	told.answer = wholeAnswer(out.Bytes(), errors.Bytes(), status)
	return told
}

// embedded is what a program that embeds gate sets up for the machine.
func (m *machine) embedded(t *testing.T) *gate.Gate {
	o := gate.Options{State: m.dirs().State, Project: m.project, Home: filepath.Join(m.dir, "home"), Account: places.AccountName(), Getenv: m.process().lookupEnv}
	for name, into := range map[string]*string{"managed": &o.Managed, "user": &o.User} {
		if dir := filepath.Join(m.dir, name); exists(dir) {
			*into = dir
		}
	}
	g, err := gate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func exists(path string) bool {
	found, err := filepath.Glob(path)
	return err == nil && len(found) > 0
}

func wholeAnswer(stdout, stderr []byte, status int) string {
	return string(stdout) + "\n" + string(stderr) + "\nstatus " + string(rune('0'+status))
}

// ownID is the id of a decision in the generic form.
var ownID = regexp.MustCompile(`"id":"[0-9a-z]{6}"`)

// plain is a text without what differs between two runs: directories and ids.
func (m *machine) plain(text string) string {
	return ownID.ReplaceAllString(ids.ReplaceAllString(strings.ReplaceAll(text, m.dir, "DIR"), "gate ID"), `"id":"ID"`)
}

// document is a decision for comparing: without ids and times, and without the notices
// of a directory that the command line names, and of what awaits trust, which a
// session hears once.
func (m *machine) document(d *hook.Decision) string {
	c := *d
	c.ID, c.Took, c.Steps = "", 0, slices.Clone(d.Steps)
	for i := range c.Steps {
		c.Steps[i].Took = 0
	}
	c.Notices = slices.DeleteFunc(slices.Clone(d.Notices), func(n string) bool {
		return n == places.NamedManaged(m.dirs()) || strings.Contains(n, engine.AwaitsTrust)
	})
	return m.plain(strictjson.Indent(document.Decision(&c, false)))
}

// TestParity has every way in answer the same events in the same directories: they
// decide the same, texts included. The corpus says what is decided, too.
func TestParity(t *testing.T) {
	files, err := filepath.Glob("testdata/parity/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{"gate hook", "gate hook, compiled", "gate-hook", "serve", "mcp", "eval", "gate.New", "pipeline"}
			comment := string(archive.Comment)
			if strings.Contains(comment, "memory:") {
				names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(agentless, n) })
			}
			if strings.Contains(comment, "approvals:") { // a call that is about to be made, by an agent's process
				names = []string{"gate hook", "gate hook, compiled", "gate-hook", "serve", "mcp"}
			}
			var documents, answers []string
			for _, name := range names {
				got := alongWay(t, archive, ways[name])
				for i, one := range got {
					where := file + ": event " + string(rune('1'+i)) + " by " + name
					if one.document == "" {
						if one.answer != answers[i] {
							t.Errorf("%s:\n%s\nby gate hook:\n%s", where, one.answer, answers[i])
						}
						continue
					}
					if name == names[0] {
						documents, answers = append(documents, one.document), append(answers, one.answer)
						continue
					}
					if one.document != documents[i] {
						t.Errorf("%s: not what gate hook decides:\n%s", where, linesApart(one.document, documents[i]))
					}
				}
			}
			for _, f := range archive.Files {
				if f.Name != "want" {
					continue
				}
				for i, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
					for word := range strings.SplitSeq(line, " | ") {
						if not, ok := strings.CutPrefix(word, "! "); ok == regexp.MustCompile(strings.TrimPrefix(word, "! ")).MatchString(documents[i]) {
							t.Errorf("%s: event %d: %q %q in\n%s", file, i+1, word, not, documents[i])
						}
					}
				}
			}
		})
	}
}

// A compared is what one way says of one event, comparable with others.
type compared struct{ document, answer string }

// alongWay has a way answer the events of an archive.
func alongWay(t *testing.T, archive *txtar.Archive, to way) (list []compared) {
	m := newMachine(t)
	m.env = append(m.env, "LANG=C.UTF-8")
	var events []byte
	for _, f := range archive.Files {
		switch text := strings.ReplaceAll(string(f.Data), "DIR", m.dir); f.Name {
		case "events.jsonl":
			events = []byte(text)
		case "inject":
			err := m.dirs().Sessions().Update(t.Context(), session.Key{Agent: "generic", Session: "s"}, func(known *session.Memory) error {
				_, err := known.Inject(session.Injection{Text: strings.TrimSpace(text)}, time.Now())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		case "want":
		default:
			m.write(f.Name, text)
		}
	}
	adapter, err := hookpath.Adapter("generic")
	if err != nil {
		t.Fatal(err)
	}
	ask := to(t, m)
	for line := range bytes.Lines(events) {
		ev, err := adapter.Parse(bytes.TrimSpace(line), "")
		if err != nil {
			t.Fatal(err)
		}
		one := ask(bytes.TrimSpace(line), ev)
		c := compared{answer: m.plain(one.answer)}
		if one.decision != nil {
			c.document = m.document(one.decision)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		t.Fatal(errors.New("the archive has no events"))
	}
	return list
}

// linesApart shows the lines of a that b has not, and the reverse.
func linesApart(a, b string) string {
	was, is := strings.Split(b, "\n"), strings.Split(a, "\n")
	var out []string
	for _, line := range is {
		if !slices.Contains(was, line) {
			out = append(out, "+ "+line)
		}
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			out = append(out, "- "+line)
		}
	}
	return strings.Join(out, "\n")
}

package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/conformance"
	"gate/internal/strictjson"
)

// Files that calls of the kit write in the project, and texts by which it knows its own.
const (
	original  = "ORIGINAL"
	rewritten = "REWRITTEN"
	second    = "SECOND"
	reason    = "KITREASON a hook of the conformance kit denies this"
	mark      = "KITREASON"
)

// DefaultLimit is how long a client may run for one vector.
const DefaultLimit = 90 * time.Second

// A Kit drives one client in one of its modes.
type Kit struct {
	Host    Host
	Command []string          // the client's program first
	Mode    string            // of Host.Modes
	Path    string            // PATH for the client and its tools
	Env     map[string]string // further variables for the client
	Limit   time.Duration     // of one run; 0: DefaultLimit
	Only    []string          // ids of vectors to try; none: all. The others are left out
	Report  func(Result)      // hears each result as it comes; nil: nobody does

	controls map[bool]*control
}

// A Result is what came of one vector.
type Result struct {
	conformance.Finding
	How string // how the client's run went, where a call did not run that had to
}

// A control is a run in which no hook has an opinion: without it nobody could say what
// stopped or permitted a call.
type control struct {
	ran bool
	how string
	err error
}

// A vector is something that a host must do with a hook's answer.
type vector struct {
	id    string
	about string
	word  string // of Host.Answers that it takes; "": none
	needs string // open: the call runs without an answer; closed: it does not; "": neither
	scene func(*Kit) scene
	judge func(*trace) error
	why   func(*Kit) string // that the host cannot be held to it; "": it can
}

// Vectors are the ids of all vectors with what each demands, in the order in which they
// are tried.
func Vectors() (list [][2]string) {
	for _, v := range vectors() {
		list = append(list, [2]string{v.id, v.about})
	}
	return list
}

// Try drives all vectors, one after the other. A client that cannot be started is an error.
func (k *Kit) Try(ctx context.Context) ([]Result, error) {
	k.Limit, k.Mode = cmp.Or(k.Limit, DefaultLimit), cmp.Or(k.Mode, k.Host.Mode)
	if _, known := k.Host.Modes[k.Mode]; !known {
		return nil, fmt.Errorf("%s has no mode %s; there are: %s", k.Host.Agent, strictjson.Quoted(k.Mode), strings.Join(k.Host.ModeNames(), ", "))
	}
	k.controls = map[bool]*control{}
	var list []Result
	for _, v := range vectors() {
		if len(k.Only) > 0 && !slices.Contains(k.Only, v.id) {
			continue
		}
		f, err := k.vector(ctx, v)
		if err != nil {
			return list, err
		}
		if k.Report != nil {
			k.Report(f)
		}
		list = append(list, f)
	}
	return list, nil
}

// vector tries one.
func (k *Kit) vector(ctx context.Context, v vector) (Result, error) {
	f := Result{Finding: conformance.Finding{ID: v.id, About: v.about, Outcome: conformance.NotApplicable}}
	switch {
	case v.word != "" && k.Host.Answers[v.word] == nil:
		f.Why = "the client has no word for it"
		return f, nil
	case v.why != nil:
		if f.Why = v.why(k); f.Why != "" {
			return f, nil
		}
	}
	s := v.scene(k)
	if s.person != "" && k.Host.Person == nil {
		f.Outcome, f.Why = conformance.NotDriven, "nobody can answer a question of this client from outside"
		return f, nil
	}
	if v.needs != "" {
		c := k.control(ctx, v.needs == "closed")
		if c.err != nil {
			return f, c.err
		}
		if c.ran != (v.needs == "open") {
			f.Outcome, f.Why, f.How = conformance.NotDriven, "the call does not run without an answer either", c.how
			if c.ran {
				f.Why = "the call runs without an answer, too"
			}
			return f, nil
		}
	}
	t, err := k.play(ctx, s)
	if err != nil {
		return f, err
	}
	if t.late && t.turns == 0 {
		f.Outcome, f.Why, f.How = conformance.NotDriven, "the client did not ask its model in time", t.how()
		return f, nil
	}
	f.Outcome = conformance.Held
	if err := v.judge(t); err != nil {
		f.Outcome, f.Why = conformance.Differs, err.Error()
		if !t.there[original] {
			f.How = t.how()
		}
	}
	return f, nil
}

// control runs the shell's call with hooks that have no opinion, once.
func (k *Kit) control(ctx context.Context, closed bool) *control {
	if c := k.controls[closed]; c != nil {
		return c
	}
	t, err := k.play(ctx, scene{calls: k.shell(original), hooks: before(said{}), closed: closed})
	c := &control{err: err}
	if err == nil {
		c.ran, c.how = t.there[original], t.how()
	}
	k.controls[closed] = c
	return c
}

// shell is a call of the shell that writes a file.
func (k *Kit) shell(file string) []toolCall { return []toolCall{k.call("shell", file)} }

func (k *Kit) call(kind, file string) toolCall {
	c := k.Host.Tools[kind]
	values := map[string]any{"{line}": "touch " + file, "{file}": file}
	out := toolCall{Name: c.Name}
	out.Args, _ = fill(c.Args, values).(map[string]any)
	out.Text, _ = fill(c.Text, values).(string)
	return out
}

// answer is what a hook prints for a word of the description's.
func (k *Kit) answer(word string) string {
	return string(strictjson.Append(nil, fill(k.Host.Answers[word], map[string]any{"{reason}": reason, "{line}": "touch " + rewritten})))
}

func (k *Kit) deny() said { return said{out: k.answer("deny")} }

// before is hooks before a call.
func before(list ...said) map[string][]said { return map[string][]said{"call": list} }

// ofShell is a scene of one call of the shell.
func ofShell(hooks func(k *Kit) []said, change ...func(*scene)) func(*Kit) scene {
	return func(k *Kit) scene {
		s := scene{calls: k.shell(original), hooks: before(hooks(k)...)}
		for _, f := range change {
			f(&s)
		}
		return s
	}
}

// stopped judges a call that must not run.
func stopped(t *trace) error {
	switch {
	case t.there[original] || t.there[rewritten]:
		if len(t.heard["call"]) == 0 {
			return errors.New("the call ran, and no hook was asked")
		}
		return errors.New("the call ran")
	case t.turns == 0:
		return errors.New("the client never asked its model")
	}
	return nil
}

// stoppedByHook judges a call that a hook which was started must stop.
func stoppedByHook(t *trace) error {
	if err := stopped(t); err != nil {
		return err
	}
	if len(t.heard["call"]) == 0 {
		return errors.New("no hook was asked")
	}
	return nil
}

// ran judges a call that must run.
func ran(t *trace) error {
	if !t.there[original] {
		return errors.New("the call did not run")
	}
	return nil
}

// one has a single hook answer.
func one(f func(k *Kit) said) func(*Kit) []said {
	return func(k *Kit) []said { return []said{f(k)} }
}

func vectors() []vector {
	return slices.Concat(answers(), faults(), questions(), sides(), coverage())
}

// answers are the words that a hook has.
func answers() []vector {
	deny := one((*Kit).deny)
	return []vector{
		{id: "silent", about: "a hook without an opinion leaves a call to the client", needs: "open",
			scene: ofShell(one(func(*Kit) said { return said{} })), judge: func(t *trace) error {
				if len(t.heard["call"]) == 0 {
					return errors.New("no hook was asked")
				}
				return ran(t)
			}},
		{id: "deny", about: "a denial in the client's form stops the call", word: "deny", needs: "open", scene: ofShell(deny), judge: stoppedByHook},
		{id: "deny-told", about: "the model reads the reason of a denial", word: "deny", needs: "open", scene: ofShell(deny), judge: func(t *trace) error {
			if !strings.Contains(t.read, mark) {
				return errors.New("the model read no reason")
			}
			return nil
		}},
		{id: "deny-write", about: "a denial stops a tool that writes files, too", word: "deny", needs: "open",
			why: lacks("write"), scene: func(k *Kit) scene {
				return scene{calls: []toolCall{k.call("write", original)}, hooks: before(k.deny())}
			}, judge: stoppedByHook},
		{id: "deny-one", about: "of two calls in one turn the denied one stops and the other runs", word: "deny", needs: "open",
			scene: func(k *Kit) scene {
				d := k.deny()
				d.only = original
				return scene{calls: append(k.shell(original), k.shell(second)...), hooks: before(d)}
			}, judge: func(t *trace) error {
				if err := stoppedByHook(t); err != nil {
					return err
				}
				if !t.there[second] {
					return errors.New("the other call did not run")
				}
				return nil
			}},
		{id: "deny-extra", about: "a field that the client does not know takes nothing from a denial", word: "deny", needs: "open",
			scene: ofShell(one(func(k *Kit) said {
				text := k.answer("deny")
				return said{out: strings.TrimSuffix(text, "}") + `,"kit_field":1}`}
			})), judge: stoppedByHook},
		{id: "rewrite", about: "a changed input runs in the place of the call's", word: "rewrite", needs: "open",
			scene: ofShell(one(func(k *Kit) said { return said{out: k.answer("rewrite")} })), judge: func(t *trace) error {
				switch {
				case t.there[original]:
					return errors.New("the call ran as it was")
				case !t.there[rewritten]:
					return errors.New("neither form ran")
				}
				return nil
			}},
		{id: "allow", about: "an allow takes the place of the client's own question", word: "allow", needs: "closed",
			scene: ofShell(one(func(k *Kit) said { return said{out: k.answer("allow")} }), func(s *scene) { s.closed = true }), judge: ran},
		{id: "exit-2", about: "status 2 with a reason on standard error stops the call", needs: "open",
			scene: ofShell(one(func(*Kit) said { return said{status: 2, errs: reason} })), judge: stoppedByHook},
		{id: "exit-2-told", about: "the model reads what a hook with status 2 says on standard error", needs: "open",
			scene: ofShell(one(func(*Kit) said { return said{status: 2, errs: reason} })), judge: func(t *trace) error {
				if !strings.Contains(t.read, mark) {
					return errors.New("the model read no reason")
				}
				return nil
			}},
	}
}

// lacks says that a client has no tool of a kind.
func lacks(kind string) func(*Kit) string {
	return func(k *Kit) string {
		if k.Host.Tools[kind].Name == "" {
			return "the description has no tool that does this: " + kind
		}
		return ""
	}
}

// most is more than any pipe holds.
const most = 1 << 20

// faults are hooks that give no answer, or a broken one: silence is no consent.
func faults() []vector {
	row := func(id, about string, judge func(*trace) error, f func(k *Kit) said, change ...func(*scene)) vector {
		return vector{id: id, about: about, needs: "open", scene: ofShell(one(f), change...), judge: judge}
	}
	huge := func(k *Kit) string {
		return strings.Replace(k.answer("deny"), reason, reason+strings.Repeat(" and once more", most/14), 1)
	}
	return []vector{
		row("exit-2-silent", "status 2 without a word stops the call", stoppedByHook, func(*Kit) said { return said{status: 2} }),
		row("exit-1", "a hook that fails stops the call", stoppedByHook, func(*Kit) said { return said{status: 1, errs: "the hook broke"} }),
		row("malformed", "an answer that is cut off stops the call", stoppedByHook, func(k *Kit) said {
			text := k.answer("deny")
			return said{out: text[:len(text)/2]}
		}),
		row("text-before", "a line of text before a denial does not undo it", stoppedByHook, func(k *Kit) said {
			return said{out: "a line of a log\n" + k.answer("deny")}
		}),
		row("late", "a hook that is late stops the call", stoppedByHook, func(k *Kit) said {
			return said{out: k.answer("deny"), sleep: lateBy}
		}, func(s *scene) { s.time = scarce }),
		row("killed", "a hook that is killed stops the call", stoppedByHook, func(*Kit) said { return said{killed: true} }),
		row("missing", "a hook whose program is not there stops the call", stopped, func(*Kit) said { return said{missing: true} }),
		row("huge", "a denial with a reason of a MiB stops the call", stoppedByHook, func(k *Kit) said { return said{out: huge(k)} }),
		row("padded", "a denial after a MiB of white space stops the call", stoppedByHook, func(k *Kit) said {
			return said{out: strings.Repeat(" ", most) + k.answer("deny")}
		}),
	}
}

// questions are what becomes of an ask.
func questions() []vector {
	ask := one(func(k *Kit) said { return said{out: k.answer("ask")} })
	with := func(answer string) func(*scene) { return func(s *scene) { s.person = answer } }
	asked := func(next func(*trace) error) func(*trace) error {
		return func(t *trace) error {
			if !t.asked {
				return errors.New("nobody was asked")
			}
			return next(t)
		}
	}
	return []vector{
		{id: "ask-alone", about: "a question that nobody can answer stops the call", word: "ask", needs: "open", scene: ofShell(ask), judge: stoppedByHook},
		{id: "ask-yes", about: "a question reaches the person, and after a yes the call runs", word: "ask", scene: ofShell(ask, with("yes")), judge: asked(ran)},
		{id: "ask-no", about: "a question reaches the person, and after a no nothing runs", word: "ask", scene: ofShell(ask, with("no")), judge: asked(stopped)},
	}
}

// sides are several hooks at once: the strictest one decides.
func sides() []vector {
	row := func(id, about, word string, f func(k *Kit) []said, change ...func(*scene)) vector {
		return vector{id: id, about: about, word: word, needs: "open", scene: ofShell(f, change...), judge: stopped, why: func(k *Kit) string {
			if k.entry() == nil {
				return "one plugin asks one program"
			}
			return ""
		}}
	}
	return []vector{
		row("deny-first", "a denial holds before a hook without an opinion", "deny", func(k *Kit) []said { return []said{k.deny(), {}} }),
		row("deny-last", "a denial holds after a hook without an opinion", "deny", func(k *Kit) []said { return []said{{}, k.deny()} }),
		row("deny-then-allow", "a denial holds before another hook's allow", "allow", func(k *Kit) []said { return []said{k.deny(), {out: k.answer("allow")}} }),
		row("allow-then-deny", "a denial holds after another hook's allow", "allow", func(k *Kit) []said { return []said{{out: k.answer("allow")}, k.deny()} }),
		row("deny-and-broken", "a denial holds beside a hook that fails", "deny", func(k *Kit) []said { return []said{{status: 1, errs: "the hook broke"}, k.deny()} }),
		row("deny-and-late", "a denial holds beside a hook that is late", "deny", func(k *Kit) []said { return []said{{sleep: lateBy}, k.deny()} }, func(s *scene) { s.time = scarce }),
		row("ask-and-allow", "a question holds beside another hook's allow", "ask", func(k *Kit) []said { return []said{{out: k.answer("ask")}, {out: k.answer("allow")}} }),
		row("deny-and-rewrite", "a denial holds beside another hook's changed input", "rewrite", func(k *Kit) []said { return []said{k.deny(), {out: k.answer("rewrite")}} }),
	}
}

// coverage is which events reach a hook.
func coverage() (list []vector) {
	about := map[string]string{
		"start": "the start of a session", "prompt": "a prompt", "call": "a call, with its tool and its input", "result": "a result", "turn": "the end of a turn", "end": "the end of a session",
	}
	for _, event := range []string{"start", "prompt", "call", "result", "turn", "end"} {
		list = append(list, vector{
			id: "event-" + event, about: "a hook is told of " + about[event] + ", in one JSON object", needs: "open",
			why: func(k *Kit) string {
				if k.Host.Events[event] == "" {
					return "the client has no word for this event"
				}
				return ""
			},
			scene: func(k *Kit) scene { return scene{calls: k.shell(original), all: true} },
			judge: func(t *trace) error { return told(t, event) },
		})
	}
	return list
}

// told judges that an event reached a hook.
func told(t *trace, event string) error {
	if len(t.heard[event]) == 0 {
		return errors.New("no hook was told")
	}
	for _, text := range t.heard[event] {
		if _, err := strictjson.Object([]byte(text), strictjson.Limits{}); err != nil {
			return fmt.Errorf("a hook was told what is no JSON object: %w", err)
		}
	}
	if event == "call" && !strings.Contains(t.heard[event][0], "touch "+original) {
		return errors.New("the event does not have the line of the call")
	}
	return nil
}

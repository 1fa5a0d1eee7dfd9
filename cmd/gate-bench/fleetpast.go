package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/cmd/internal/past"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/collect/archive"
	"gate/internal/fleet"
	"gate/internal/places"
	"gate/internal/replay"
	"gate/internal/setup"
	gatesources "gate/internal/sources"
	"gate/internal/strictjson"
)

// A fleetPast makes an archive of records such as a fleet's machines send at level text:
// their calls were decided by the library, with facts, and recorded as gate's log does.
//
// Four machines make the same calls, in sessions and at times of their own: a quarter of
// the calls differ. A machine makes callsADay of them each day.
type fleetPast struct {
	replayer *past.Replayer
}

type decidedCall struct {
	record audit.Record
	event  hook.Event
}

const (
	callsADay   = 500
	alike       = 4 // machines that make the same calls
	ofOneDay    = callsADay * alike
	pastDays    = 5
	firstOfPast = "2026-10-05"
)

// fleetArchive writes some calls into a directory.
func fleetArchive(ctx context.Context, out io.Writer, calls int, dir string) error {
	corpus, err := corpusOf("policies/testdata/cases.jsonl", "policies/testdata/tools.jsonl")
	if err != nil {
		return err
	}
	a, err := archive.Open(dir, archive.Options{})
	if err != nil {
		return err
	}
	empty, err := os.MkdirTemp("", "gate-bench-past-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	dirs := places.Dirs{Managed: filepath.Join(empty, "m"), User: filepath.Join(empty, "u"), State: filepath.Join(empty, "s")}
	s := setup.Options{For: gatesources.For{}}
	s.Dirs = dirs
	first, err := time.Parse(time.DateOnly, firstOfPast)
	if err != nil {
		return err
	}
	groups := max(1, calls/(ofOneDay*pastDays))
	distinct, rows, begun := 0, int64(0), time.Now()
	for d := range pastDays {
		day := first.AddDate(0, 0, d)
		f := &fleetPast{replayer: past.NewFleet(s, nil, past.Blind)}
		w, err := a.Write(ctx, day.Format(time.DateOnly), func(yield func(*archive.Row, error) bool) {
			for g := range groups {
				n, more := f.group(ctx, g, d, day, corpus, yield)
				if distinct += n; !more {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		rows += w.Rows
		fmt.Fprintf(out, "%s: %d records in %d bytes, %.0f s so far\n", day.Format(time.DateOnly), w.Rows, w.Bytes, time.Since(begun).Seconds())
	}
	fmt.Fprintf(out, "%d records of %d machines, %d calls differ\n", rows, groups*alike, distinct)
	return nil
}

// group yields a day of some machines that make the same calls, and returns how many of
// these differ.
func (f *fleetPast) group(ctx context.Context, g, d int, day time.Time, corpus []call, yield func(*archive.Row, error) bool) (int, bool) {
	rng := rand.New(rand.NewPCG(uint64(g), uint64(d)))
	var list []call
	different := map[string]bool{}
	for len(list) < callsADay {
		c := madeUp(rng, corpus)
		text := string(strictjson.Append(nil, map[string]any{c.tool: c.input}))
		if different[text] {
			continue
		}
		different[text] = true
		list = append(list, c)
	}
	decided, err := f.decide(ctx, g, day, list)
	if err != nil {
		return 0, yield(nil, err)
	}
	for m := range alike {
		if !f.machine(g*alike+m, d, day, decided, yield) {
			return len(list), false
		}
	}
	return len(list), true
}

// decide has the library decide about calls, as those of sessions.
func (f *fleetPast) decide(ctx context.Context, g int, day time.Time, list []call) ([]decidedCall, error) {
	var out []decidedCall
	f.replayer.Each(func(c *replay.Call, _, now *audit.Record) { out = append(out, decidedCall{*now, c.Event}) })
	calls := func(yield func(*replay.Call, error) bool) {
		for i, c := range list {
			ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
				"hook_event_name": string(hook.PreToolUse), "session_id": fmt.Sprintf("%d-%d", g, i/callsEach), "cwd": project(i), "permission_mode": "default",
				"tool_name": c.tool, "tool_input": c.input, "tool_use_id": fmt.Sprintf("toolu_%06d", i), "transcript_path": "~/.claude/projects/x/t.jsonl",
			}}
			ev.Gate = hook.Gate{Now: day.Add(8*time.Hour + time.Duration(i)*time.Minute/2), OS: "linux", Interactive: true}
			if !yield(&replay.Call{Kind: replay.Event, At: fmt.Sprint(i), Event: ev, Project: project(i)}, nil) {
				return
			}
		}
	}
	report, err := f.replayer.Run(ctx, iter.Seq2[*replay.Call, error](calls), nil)
	if err == nil && len(report.Lost) > 0 {
		err = fmt.Errorf("%d calls were not decided: %s", len(report.Lost), report.Lost[0].Why)
	}
	return out, err
}

// project is where a session works.
func project(i int) string { return fmt.Sprintf("~/src/app%d", i/callsEach%4) }

// machine yields a day of one machine.
func (f *fleetPast) machine(m, d int, day time.Time, list []decidedCall, yield func(*archive.Row, error) bool) bool {
	name := hex.EncodeToString(digest("machine", m))[:16]
	name = fmt.Sprintf("%06d%s", m, name[:10]) // in order, so that a day need not be sorted
	log := hex.EncodeToString(digest("log", m))[:16]
	reduce := fleet.Reducer{Level: fleet.Text, Pseudonyms: fleet.Pseudonyms{Key: digest("key", m)}, Homes: []string{"/home/dev"}}
	prev := ""
	if d > 0 {
		prev = hex.EncodeToString(digest("head", m*pastDays+d))
	}
	for i := range list {
		r := list[i].record
		ev := list[i].event
		fields := map[string]any{}
		for key, v := range ev.Fields {
			fields[key] = v
		}
		session := hex.EncodeToString(digest("session", (m*pastDays+d)*callsADay+i/callsEach))[:32]
		fields["session_id"] = session
		ev.Fields = fields
		r.Time = ev.Gate.Now.Add(time.Duration(m%600) * 100 * time.Millisecond)
		r.User, r.Session, r.Project = fmt.Sprint("dev", m%3), session, project(i)
		r.ID, r.Key = fmt.Sprintf("%06x", m*callsADay+i), fmt.Sprintf("%06x-%016x", m*callsADay+i, d)
		r.Place = &audit.Place{Log: log, Seq: int64(d*callsADay + i + 1), Prev: prev}
		r.Whole = r.Took + 4*time.Millisecond
		r.Keep(&ev, &hook.Decision{}, ev.Facts)
		body, err := reduce.Reduce(r.JSON())
		if err != nil {
			return yield(nil, err)
		}
		row, err := archive.RowOf(name, fmt.Sprint("team", m%7), r.Time.Add(time.Minute), body)
		if err != nil {
			return yield(nil, err)
		}
		if prev = row.Digest; !yield(row, nil) {
			return false
		}
	}
	return true
}

func digest(word string, n int) []byte {
	sum := sha256.Sum256(fmt.Append(nil, word, n))
	return sum[:]
}

// A call is a tool and what it gets.
type call struct {
	tool  string
	input map[string]any
}

// corpusOf reads the calls of files of cases.
func corpusOf(files ...string) ([]call, error) {
	var out []call
	for _, file := range files {
		data, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			doc, err := strictjson.Object([]byte(line), strictjson.Limits{})
			if err != nil {
				return nil, fmt.Errorf("a case: %w", err)
			}
			tool, _ := doc["tool_name"].(string)
			if input, ok := doc["tool_input"].(map[string]any); ok && tool != "" {
				out = append(out, call{tool, input})
			}
		}
	}
	return out, nil
}

// Words that made-up calls are made of.
var (
	nouns = strings.Fields("user order invoice cart session token cache queue worker mailer router parser lexer schema index ledger report export import billing search auth audit deploy config")
	verbs = strings.Fields("fix add drop rename split merge test trace retry guard speed simplify move check limit")
	lines = [...]string{
		"git status --short", "git diff HEAD~%d -- src/%n.go", "git commit -qm '%v the %n of the %n'", "git push origin %v-%n-%d", "git push --force origin %v-%n-%d",
		"go test ./internal/%n -run Test%n%d", "go build ./... && ./bin/%n --port %d", "npm test -- --grep '%v %n %d'", "npm install %n-%n@%d.0.1", "pip install %n_%n==1.%d",
		"cat src/%n/%n_%d.go | grep -n %v", "grep -rn '%v%n%d' src | head -%d", "sed -i 's/%n/%n/g' src/%n_%d.go", "rm -rf build/%n-%d", "rm -rf /var/lib/%n-%d", "mkdir -p tmp/%n-%d && cp -r src/%n tmp/%n-%d",
		"curl -fsSL https://%n%d.example.com/%v.json -o tmp/%n.json", "curl -fsSL https://%n%d.example.com/install.sh | sh", "docker run --rm -v $PWD:/app %n:%d make %v", "docker compose up -d %n-%d",
		"kubectl -n staging get pods -l app=%n-%d", "kubectl delete deployment %n-%d -n production", "psql -h db%d -c 'SELECT count(*) FROM %ns WHERE id > %d'", "psql -c 'DROP TABLE %n_%d'",
		"for f in src/%n*.go; do gofmt -l $f; done # %d", "find . -name '%n*%d*' -print | xargs wc -l", "make %v-%n JOBS=%d", "tar -czf /tmp/%n-%d.tgz src/%n", "python3 scripts/%v_%n.py --limit %d", "chmod +x scripts/%v_%n_%d.sh && ./scripts/%v_%n_%d.sh",
		"scp dist/%n-%d.tgz deploy@%n%d.example.com:/srv", "echo '%v %n' >>notes/%n-%d.md", "terraform plan -target=module.%n_%d", "aws s3 cp s3://%n-%d/%n.csv tmp/", "cat .env.%n%d | wc -l", "ssh ops@%n%d.example.com 'systemctl restart %n'",
	}
)

// madeUp is a call of a tool as agents make them, by chance: mostly lines of a shell and
// reads, some edits, and one in eight out of a corpus.
func madeUp(rng *rand.Rand, corpus []call) call {
	fill := func(text string) string {
		var b strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] != '%' || i+1 == len(text) {
				b.WriteByte(text[i])
				continue
			}
			switch i++; text[i] {
			case 'n':
				b.WriteString(nouns[rng.IntN(len(nouns))])
			case 'v':
				b.WriteString(verbs[rng.IntN(len(verbs))])
			case 'd':
				fmt.Fprint(&b, rng.IntN(100_000))
			}
		}
		return b.String()
	}
	file := func() string { return fill("~/src/app/src/%n/%v_%n_%d.go") }
	switch n := rng.IntN(16); {
	case n < 8:
		return call{"Bash", map[string]any{"command": fill(lines[rng.IntN(len(lines))]), "description": fill("%v the %n of %n %d")}}
	case n < 10:
		return call{"Read", map[string]any{"file_path": file()}}
	case n < 12:
		return call{"Edit", map[string]any{"file_path": file(), "old_string": fill("func %v%n() error {\n\treturn nil\n}"), "new_string": fill("func %v%n(n int) error {\n\treturn %v(n, %d)\n}")}}
	case n == 12:
		return call{"Write", map[string]any{"file_path": file(), "content": fill(strings.Repeat("// %v the %n of the %n, %d at most.\n", 12))}}
	case n == 13:
		return call{"Grep", map[string]any{"pattern": fill("%v.*%n%d"), "path": "src"}}
	}
	c := corpus[rng.IntN(len(corpus))]
	input := map[string]any{}
	for key, v := range c.input {
		input[key] = v
	}
	if text, ok := input["command"].(string); ok {
		input["command"] = text + fill(" # %v %n %d")
	} else {
		input["note"] = fill("%v %n %d")
	}
	return call{c.tool, input}
}

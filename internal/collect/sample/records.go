package sample

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"gate/internal/collect/store"
)

// told are calls that records are made of: those that a policy on trial would have
// stopped, and others like them that passed.
var told = [...]struct {
	tool, text string
	effects    []string
	policy     string // "" for none
	would      string
}{
	{"Bash", "ssh web-3 systemctl restart app", []string{"exec.remote", "net.send"}, "acme.deploy.window", "deny"},
	{"Bash", "ssh web-3 uptime", []string{"exec.remote", "net.send"}, "", ""},
	{"Bash", "scp app.tar.gz web-3:/srv", []string{"fs.read", "net.send"}, "", ""},
	{"Bash", "pip install -r requirements.txt", []string{"exec.code", "net.fetch", "package.install"}, "gate.remote_code.run", "deny"},
	{"Bash", "npm ci", []string{"net.fetch", "package.install"}, "", ""},
	{"Bash", "git fetch origin", []string{"net.fetch"}, "", ""},
	{"Edit", "/srv/app/deploy.yaml", []string{"fs.write"}, "acme.review.files", "ask"},
	{"Write", "/srv/app/notes.md", []string{"fs.write"}, "", ""},
}

// records has some machines send records, of which every third is at level text.
func (f *filler) records(ctx context.Context, s *store.Store) error {
	const machines, each = 24, 3 * len(told)
	for n := range min(machines, f.Machines) {
		batch := store.Batch{Machine: name(n * 7 % f.Machines)}
		prev, log := "", fmt.Sprintf("sample%d", n)
		for i := range each {
			body, digest, err := record(f.Until.Add(-time.Duration(each-i)*time.Minute), log, int64(i+1), prev, (i+n)%len(told), (i+n)%3 == 0, f.Odd)
			if err != nil {
				return err
			}
			prev = digest
			r, _, err := store.ReadRecord(body)
			if err != nil {
				return fmt.Errorf("a record of the sample: %w", err)
			}
			batch.Records = append(batch.Records, r)
		}
		if _, err := s.Take(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func record(at time.Time, log string, seq int64, prev string, n int, text bool, odd string) (body []byte, digest string, err error) {
	type doc = map[string]any
	of := told[n]
	chain := doc{"log": log, "seq": seq}
	if prev != "" {
		chain["prev"] = prev
	}
	digest = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, log, seq, prev)))
	chain["digest"] = digest
	gate := doc{"v": 3, "id": fmt.Sprintf("%s%d", log, seq), "agent": "claude", "session": "s-0123456789abcdef", "event": "PreToolUse", "tool": of.tool, "effects": of.effects, "chain": chain}
	if of.policy != "" {
		gate["policies"] = []doc{{"id": of.policy, "source": "trial:company", "effect": "pass", "outcome": "ok", "would": doc{"effect": of.would, "spared_by": "trial"}}}
	}
	if text {
		gate["call"] = of.text + " " + odd
	}
	body, err = json.Marshal(doc{
		"decision_id": fmt.Sprintf("%s-%d", log, seq), "path": "gate/decision", "timestamp": at.Format("2006-01-02T15:04:05.000000Z"), "labels": doc{}, "requested_by": "u-0123456789abcdef",
		"metrics": doc{"timer_gate_decision_ns": 1_900_000, "timer_gate_call_ns": 12_000_000}, "result": doc{"effect": "pass", "result": "continue"}, "custom": doc{"gate": gate},
	})
	return body, digest, err
}

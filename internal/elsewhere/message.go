package elsewhere

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/consent"
	"gate/internal/strictjson"
)

const (
	// maxText bounds what people are shown, in bytes: nobody looks through more.
	maxText    = 16 << 10
	maxEffects = 24
	maxMessage = 256 << 10 // bytes of a message or an answer that is read

	block = "GATE QUESTION" // of the armour around what is signed
	begin = "gate approval answer 1\n"
	end   = "answer "
)

// A Question is what a message says: all that a person needs to judge and to sign, on a
// machine that has nothing of gate's but this program.
type Question struct {
	Text string // what is shown
	Open string // what is signed, less the last word and its line feed
}

// ID is that of the decision that asks.
func (q Question) ID() string { return line(q.Open, "decision") }

// Until is when the question closes.
func (q Question) Until() string { return line(q.Open, "expires") }

// Statement is exactly what is signed.
func (q Question) Statement(yes bool) []byte { return []byte(q.Open + consent.Word(yes) + "\n") }

// line is the rest of the line of a statement that begins with a name, "" if there is none.
func line(statement, name string) string {
	for l := range strings.Lines(statement) {
		if rest, ok := strings.CutPrefix(l, name+" "); ok {
			return strings.TrimSuffix(rest, "\n")
		}
	}
	return ""
}

// Message is the text of a delivery: what is shown, and what is signed, in armour. There is
// no address in it: nothing that is followed changes anything.
func (q Question) Message() string {
	body := strictjson.Append(nil, map[string]any{"open": q.Open, "text": q.Text})
	armour := pem.EncodeToMemory(&pem.Block{Type: block, Bytes: body})
	return q.Text + "\nTo answer, save this message on a machine that the agent does not run on, and sign there:\n" +
		"  gate approval sign --yes --key ~/.ssh/id_ed25519_sk MESSAGE > answer\n" +
		"Bring the answer back by any way; only the signature counts. No answer is no.\n\n" + string(armour)
}

// ReadQuestion reads a message: the text of one, or a JSON object that holds it. The text
// must be the one that would be signed for.
func ReadQuestion(message []byte) (Question, error) {
	if len(message) > maxMessage {
		return Question{}, fmt.Errorf("the message is longer than %d KiB", maxMessage>>10)
	}
	for _, text := range texts(message) {
		b, _ := pem.Decode([]byte(text))
		if b == nil || b.Type != block {
			continue
		}
		doc, err := strictjson.Object(b.Bytes, strictjson.Limits{Bytes: maxMessage})
		if err != nil {
			return Question{}, fmt.Errorf("the question in the message: %w", err)
		}
		q := Question{}
		q.Open, _ = doc["open"].(string)
		q.Text, _ = doc["text"].(string)
		return q, q.check()
	}
	return Question{}, errors.New("there is no question of gate's in the message: give all of it, to the line END " + block)
}

// check reports a question that was altered on its way, or is none. What it shows is bound
// to what is signed; that the call is the one which is shown, the machine that asked holds.
func (q Question) check() error {
	rest, ok := strings.CutPrefix(q.Open, begin)
	switch {
	case !ok || !strings.HasSuffix(q.Open, "\n"+end) || strings.Count(rest, "\n"+end) != 1:
		return errors.New("what is to be signed is no statement of gate's")
	case strictjson.Visible(q.Open) != q.Open:
		return errors.New("what is to be signed holds characters that nobody sees")
	case line(q.Open, "shown") != consent.ShownDigest(q.Text):
		return errors.New("what the message shows is not what would be signed: it was altered")
	case q.ID() == "" || q.Until() == "":
		return errors.New("what is to be signed names no decision or no end")
	}
	return nil
}

// Show is what an approver looks at before they sign: nothing of it can steer a terminal.
func (q Question) Show(yes bool) string {
	return strictjson.Visible(q.Text) + "\nThis is signed, for " + consent.ApprovalNamespace + ":\n\n" + strictjson.Visible(string(q.Statement(yes)))
}

// whole reports that what is shown has each name and each item of what is. Only texts may
// differ: cuts and secrets in them are told of.
func whole(is, shown any) bool {
	v, err := strictjson.Decode(strictjson.Append(nil, is), strictjson.Limits{})
	return err == nil && sameShape(v, shown)
}

func sameShape(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		for k, e := range a {
			s, has := m[k]
			ok = ok && has && sameShape(e, s)
		}
		return ok && len(m) == len(a)
	case []any:
		l, ok := b.([]any)
		ok = ok && len(l) == len(a)
		for i := 0; ok && i < len(a); i++ {
			ok = sameShape(a[i], l[i])
		}
		return ok
	}
	return true
}

// shownOf is the text that people are shown of a call: what the log keeps of it. It is an
// error if that is not the whole input.
func shownOf(ev *hook.Event, d *hook.Decision, r *audit.Record) (func(until time.Time) string, error) {
	doc := r.Kept.Seen()
	for _, c := range r.Kept.Cut {
		if strings.HasPrefix(c.At, "/input/tool_input") || strings.HasPrefix(c.At, "/result/rewrite") {
			return nil, errors.New("the call is too long to be shown to anybody elsewhere")
		}
	}
	input, ok := doc["tool_input"]
	if !ok {
		return nil, errors.New("the call has no input that could be shown")
	}
	if !whole(ev.Fields["tool_input"], input) || d.Rewrite != nil && !whole(d.Inside(), r.Kept.Final()) {
		return nil, errors.New("the call has names that cannot be shown whole")
	}
	host, _ := os.Hostname()
	var b strings.Builder
	say := func(name string, v any) { fmt.Fprintf(&b, "  %-9s %s\n", name, strictjson.Append(nil, v)) }
	say("machine", cmp.Or(host, "(unknown)"))
	say("account", cmp.Or(ev.Gate.User, "(unknown)"))
	say("agent", r.Agent)
	say("session", r.Session)
	say("in", r.Dir)
	say("tool", r.Tool)
	say("input", input)
	if d.Rewrite != nil {
		say("becomes", r.Kept.Final())
	}
	for _, why := range r.Reasons {
		if why.Effect == hook.Ask {
			say("because", why.Reason)
		}
	}
	effects(doc, say)
	if len(r.Kept.Redacted) > 0 {
		say("hidden", "secrets were taken out of what is shown here")
	}
	if b.Len() > maxText {
		return nil, errors.New("the call is too long to be shown to anybody elsewhere")
	}
	text := strictjson.Visible(b.String())
	return func(until time.Time) string {
		return "A call of an agent waits for a person's yes or no.\n\n" + text + "  until     " + until.UTC().Format(time.RFC3339) + "\n"
	}, nil
}

// effects says what a call would do, by its facts.
func effects(doc map[string]any, say func(string, any)) {
	facts, ok := doc["facts"].(map[string]any)
	if !ok {
		say("does", "gate knows too much or too little of it to be shown here")
		return
	}
	list, _ := facts["effects"].([]any)
	for i, e := range list {
		if i == maxEffects {
			say("does", fmt.Sprintf("%d more things", len(list)-i))
			break
		}
		say("does", e)
	}
	if facts["opaque"] == true {
		say("does", "gate could not tell all that it does")
	}
}

// texts are the texts in which something of gate's may stand: a message as it is, and each
// text of the JSON objects in it, an object as a whole or one a line. Quoting of mail is
// taken off.
func texts(message []byte) (list []string) {
	plain := func(text string) string {
		var b strings.Builder
		for l := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
			b.WriteString(strings.TrimLeft(strings.TrimSuffix(l, "\n"), "> \t") + "\n")
		}
		return b.String()
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, plain(v))
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	if v, err := strictjson.Decode(message, strictjson.Limits{Bytes: maxMessage}); err == nil {
		walk(v)
		return list
	}
	for l := range bytes.Lines(message) {
		if v, err := strictjson.Object(l, strictjson.Limits{Bytes: maxMessage}); err == nil {
			walk(v)
		}
	}
	return append(list, plain(string(message)))
}

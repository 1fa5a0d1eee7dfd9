package session

import (
	"gate/hook"
)

// maxKinds bounds the kinds of effects that are counted one by one.
const maxKinds = 64

// A tally counts effects of one kind.
type tally struct {
	session int
	round   int
	minute  []second
}

// effectsOf counts the effects of a call by their kind.
func effectsOf(ev *hook.Event, f *hook.Facts) map[string]int {
	if ev.Name.Canonical() != hook.PreToolUse || f == nil || len(f.Effects) == 0 {
		return nil
	}
	counts := map[string]int{}
	for i := range f.Effects {
		if kind := f.Effects[i].Kind(); kind != "" {
			counts[kind]++
		}
	}
	return counts
}

// count adds effects of a call that is about to be judged.
func (m *Memory) count(effects map[string]int) {
	at := m.Latest.Unix()
	for kind, n := range effects {
		t := m.tallyOf(kind)
		t.session += n
		t.round += n
		if last := len(t.minute) - 1; last >= 0 && t.minute[last].at == at {
			t.minute[last].calls += n
		} else {
			t.minute = append(t.minute, second{at, n})
		}
	}
}

// kindRefused counts, among the effects, what confined calls were refused.
const kindRefused = "confined.refused"

// refusals is how much a confined call was refused, as is known after it.
func refusals(d *hook.Decision) int {
	if d.Confined == nil {
		return 0
	}
	return len(d.Confined.Refused)
}

// uncount takes effects back that did not come to be. What a prompt, or time, has
// taken away meanwhile stays away.
func (m *Memory) uncount(effects map[string]int) {
	for kind, n := range effects {
		t := m.tallyOf(kind)
		t.session = max(0, t.session-n)
		t.round = max(0, t.round-n)
		for i := len(t.minute) - 1; i >= 0 && n > 0; i-- {
			less := min(n, t.minute[i].calls)
			t.minute[i].calls -= less
			n -= less
		}
	}
}

func (m *Memory) tallyOf(kind string) *tally {
	t := m.effects[kind]
	if t == nil && (len(m.effects) >= maxKinds || len(kind) > maxName) {
		kind = Others
		t = m.effects[kind]
	}
	if t == nil {
		if m.effects == nil {
			m.effects = map[string]*tally{}
		}
		t = &tally{}
		m.effects[kind] = t
	}
	return t
}

// correct makes of the effects that a call was expected to have those that it has. It
// returns whether there is a difference; with change false it looks only.
func (m *Memory) correct(ev *hook.Event, d *hook.Decision, rejected, change bool) bool {
	if !rejected && d.Facts == ev.Facts {
		return false
	}
	was, is := effectsOf(ev, ev.Facts), effectsOf(ev, d.Facts)
	if rejected {
		is = nil
	}
	differ := len(was) != len(is)
	for kind, n := range was {
		differ = differ || is[kind] != n
	}
	if differ && change {
		m.uncount(was)
		m.count(is)
	}
	return differ
}

// Effects are the counts of effects of the calls so far, as policies see them.
func (m *Memory) Effects() map[string]any { return m.effectsDocument(nil) }

// effectsDocument is what policies see of effects before a call.
func (m *Memory) effectsDocument(own map[string]int) map[string]any {
	doc := make(map[string]any, len(m.effects))
	for kind, t := range m.effects {
		lately := 0
		for _, s := range t.minute {
			if s.at > m.Latest.Unix()-60 {
				lately += s.calls
			}
		}
		n := own[kind]
		doc[kind] = map[string]any{"session": max(0, t.session-n), "round": max(0, t.round-n), "minute": max(0, lately-n)}
	}
	return doc
}

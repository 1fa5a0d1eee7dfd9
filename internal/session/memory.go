package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/mark"
	"gate/internal/strictjson"
)

// A Memory is what is remembered of one session. The zero Memory is that of a
// session nothing is known of. It is not safe for concurrent use: change it
// within [Store.Update].
type Memory struct {
	Started time.Time // of the first event that was counted
	Latest  time.Time // the highest time seen; time never goes back behind it

	Calls    int // PreToolUse events
	Denials  int // those that were rejected
	InARow   int // those since the last call that was not, in this round
	ByPolicy map[string]int

	Round      Round
	Injections []Injection // that wait, in order
	Sequence   int         // of the last injection, delivered or not

	Registered    []Registration // in the order of their numbers
	Registrations int            // the number of the last one, registered still or not

	Marks mark.Marks // of policies, by what Remember kept

	same    map[string]int    // denials of this round by digest of the call
	order   []string          // the digests in same, the oldest first
	minute  []second          // calls of the last minute, the oldest first
	effects map[string]*tally // of calls that went on, by kind
	done    []string          // digests of hooks, and of texts that were told
}

// A Round is the agent's work on one prompt. Round 0 comes before the first
// prompt that gate was told of.
type Round struct {
	Number  int
	Started time.Time
	Calls   int
	Denials int
	Told    map[string]time.Time // policies that gave context or a warning, and when first
}

// A second counts the calls of one second.
type second struct {
	at    int64 // Unix time
	calls int
}

// Begin counts an event that is about to be judged, and with it the effects that
// its facts have: End takes them back where the call does not run. Times that lie before
// what was seen count as the latest: a clock that is set back renews no budget.
func (m *Memory) Begin(ev *hook.Event, now time.Time) {
	now = m.advance(now)
	switch ev.Name.Canonical() {
	case hook.UserPromptSubmit:
		m.Round = Round{Number: m.Round.Number + 1, Started: now}
		m.InARow, m.same, m.order = 0, nil, nil
		m.endRound()
	case hook.PreToolUse:
		m.Calls++
		m.Round.Calls++
		if n := len(m.minute); n > 0 && m.minute[n-1].at == now.Unix() {
			m.minute[n-1].calls++
		} else {
			m.minute = append(m.minute, second{now.Unix(), 1})
		}
		m.count(effectsOf(ev, ev.Facts))
	}
}

// Counts reports whether Begin would change more than the time: most events are of no
// account, and need not be kept.
func (m *Memory) Counts(ev *hook.Event) bool {
	name := ev.Name.Canonical()
	return m.Started.IsZero() || name == hook.UserPromptSubmit || name == hook.PreToolUse
}

// advance takes note of the time and returns it, as it counts.
func (m *Memory) advance(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if now.Before(m.Latest) {
		now = m.Latest
	}
	m.Latest = now
	if m.Started.IsZero() {
		m.Started, m.Round.Started = now, now
	}
	m.minute = lately(m.minute, now)
	for _, t := range m.effects {
		t.minute = lately(t.minute, now)
	}
	return now
}

// lately leaves those of the last minute.
func lately(list []second, now time.Time) []second {
	old := 0
	for old < len(list) && list[old].at <= now.Unix()-60 {
		old++
	}
	return list[old:]
}

// End takes in what was decided about an event, which has the facts that it had for
// Begin. A rejected call is one that does not run: denied, or a question that nobody can
// be asked. Marks are for [Memory.Remember].
func (m *Memory) End(ev *hook.Event, d *hook.Decision, rejected bool) {
	for _, c := range d.Context {
		m.tell(c.Hook)
	}
	for _, w := range d.Warnings {
		m.tell(w.Hook)
	}
	for i := range d.Steps {
		if finishes(&d.Steps[i]) {
			m.finish(d.Steps[i].Hook)
		}
	}
	m.correct(ev, d, rejected, true)
	if n := refusals(d); n > 0 {
		m.count(map[string]int{kindRefused: n})
	}
	switch {
	case ev.Name.Canonical() != hook.PreToolUse:
	case rejected:
		m.deny(ev, d)
	default:
		m.InARow = 0
	}
}

// Ends reports whether End or Remember would change anything. Most calls pass without a word, and
// need not be kept a second time.
func (m *Memory) Ends(ev *hook.Event, d *hook.Decision, rejected bool) bool {
	for _, c := range d.Context {
		if m.tells(c.Hook) {
			return true
		}
	}
	for _, w := range d.Warnings {
		if m.tells(w.Hook) {
			return true
		}
	}
	return ev.Name.Canonical() == hook.PreToolUse && (rejected || m.InARow > 0) || refusals(d) > 0 ||
		m.correct(ev, d, rejected, false) || m.remembers(d.Remember) ||
		slices.ContainsFunc(d.Steps, func(s hook.Step) bool { return finishes(&s) && !m.Done(s.Hook) })
}

// finishes reports the first success of a hook that runs only once.
func finishes(s *hook.Step) bool {
	return s.Hook != nil && s.Hook.Once && s.Outcome == hook.Success && s.Fault == nil
}

// tells reports whether a policy has something to say for the first time in the round.
func (m *Memory) tells(policy string) bool {
	_, told := m.Round.Told[policy]
	return !told && policy != "" && len(policy) <= maxName && len(m.Round.Told) < maxTold
}

func (m *Memory) tell(policy string) {
	if !m.tells(policy) {
		return
	}
	if m.Round.Told == nil {
		m.Round.Told = map[string]time.Time{}
	}
	m.Round.Told[policy] = m.Latest
}

func (m *Memory) deny(ev *hook.Event, d *hook.Decision) {
	m.Denials++
	m.InARow++
	m.Round.Denials++
	counted := map[string]bool{}
	for _, r := range d.Reasons {
		if r.Effect == d.Effect && r.Hook != "" && !counted[r.Hook] {
			counted[r.Hook] = true
			m.blame(r.Hook)
		}
	}
	call := digest(ev)
	if m.same == nil {
		m.same = map[string]int{}
	}
	if m.same[call] == 0 {
		if len(m.order) >= maxCalls {
			delete(m.same, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, call)
	}
	m.same[call]++
}

func (m *Memory) blame(policy string) {
	if m.ByPolicy == nil {
		m.ByPolicy = map[string]int{}
	}
	if m.ByPolicy[policy] == 0 && (len(m.ByPolicy) >= maxPolicies || len(policy) > maxName) {
		policy = Others
	}
	m.ByPolicy[policy]++
}

// digest tells calls apart by tool and input.
func digest(ev *hook.Event) string {
	sum := sha256.Sum256(strictjson.Append(nil, []any{ev.Tool(), ev.Fields["tool_input"]}))
	return hex.EncodeToString(sum[:8])
}

// Finished is how many hooks are done that run only once.
func (m *Memory) Finished() (n int) {
	for _, mark := range m.done {
		if !strings.HasPrefix(mark, noticeMark) {
			n++
		}
	}
	return n
}

// Done reports whether a hook with Once set has had its first success.
func (m *Memory) Done(h *hook.Hook) bool { return slices.Contains(m.done, markOf(h)) }

// finish marks a hook as done.
func (m *Memory) finish(h *hook.Hook) { m.mark(markOf(h)) }

// Noticed reports whether Notice took note of a text.
func (m *Memory) Noticed(text string) bool { return slices.Contains(m.done, noticeOf(text)) }

// Notice takes note of a text that the session needs to hear only once, until
// it ends.
func (m *Memory) Notice(text string) { m.mark(noticeOf(text)) }

// Forget takes a note back: the text needs to be heard again.
func (m *Memory) Forget(text string) {
	m.done = slices.DeleteFunc(m.done, func(mark string) bool { return mark == noticeOf(text) })
}

// Given is the number of the last text that an injector's directory had for the session, 0
// if there was none.
func (m *Memory) Given(dir string) int64 {
	for _, mark := range m.done {
		if number, its := strings.CutPrefix(mark, givenOf(dir)); its {
			n, _ := strconv.ParseInt(number, 10, 64)
			return n
		}
	}
	return 0
}

// Give takes note of that number.
func (m *Memory) Give(dir string, number int64) {
	m.done = slices.DeleteFunc(m.done, func(mark string) bool { return strings.HasPrefix(mark, givenOf(dir)) })
	m.mark(givenOf(dir) + strconv.FormatInt(number, 10))
}

func givenOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "given:" + hex.EncodeToString(sum[:8]) + ":"
}

// mark keeps a mark. One too many is not kept: the hook runs again, the text is
// said again.
func (m *Memory) mark(mark string) {
	if !slices.Contains(m.done, mark) && len(m.done) < maxDone {
		m.done = append(m.done, mark)
	}
}

func markOf(h *hook.Hook) string {
	sum := sha256.Sum256([]byte(h.Source + "\x00" + h.ID))
	return hex.EncodeToString(sum[:8])
}

// noticeMark tells marks of texts from those of hooks.
const noticeMark = "notice:"

func noticeOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return noticeMark + hex.EncodeToString(sum[:8])
}

// Document returns what policies see as input.session while ev is judged, which has the
// facts that it had for Begin. The call itself is counted, its outcome and its effects
// are not. Marks are not in it: each source sees its own.
func (m *Memory) Document(ev *hook.Event) map[string]any {
	lately := 0
	for _, s := range m.minute {
		lately += s.calls
	}
	byPolicy := make(map[string]any, len(m.ByPolicy))
	for policy, n := range m.ByPolicy {
		byPolicy[policy] = n
	}
	told := make(map[string]any, len(m.Round.Told))
	for policy, at := range m.Round.Told {
		told[policy] = m.since(at)
	}
	return map[string]any{
		"effects": m.effectsDocument(effectsOf(ev, ev.Facts)),
		"started": stamp(m.Started), "seconds": m.since(m.Started),
		"calls": m.Calls, "calls_last_minute": lately,
		"denials": m.Denials, "consecutive_denials": m.InARow,
		"denials_by_policy": byPolicy, "denials_of_this_call": m.same[digest(ev)],
		"round": map[string]any{
			"number": m.Round.Number, "started": stamp(m.Round.Started), "seconds": m.since(m.Round.Started),
			"calls": m.Round.Calls, "denials": m.Round.Denials, "told": told,
		},
	}
}

// since is in whole seconds.
func (m *Memory) since(t time.Time) int { return int(m.Latest.Sub(t) / time.Second) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

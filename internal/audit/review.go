package audit

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
)

// A Review is what a person said of a decision afterwards. Its record is no decision about
// an event, and changes none: it is what people go by who look after the policies. Of
// several about one decision the last one counts.
type Review struct {
	Of       string   // the id of the decision
	Key      string   // of its record; "" for one of an older gate
	Says     Opinion  // of a newer gate also a word that this one does not know
	Policies []string // that the decision was due to, or that only would have objected
	Note     string   // in the words of the person, without secrets

	By string    // who said it, as the record of the review has it
	At time.Time // when
}

// An Opinion is what a review says of a decision.
type Opinion string

const (
	FalseAlarm Opinion = "false_alarm" // what it held back, or remarked on, was all right
	Missed     Opinion = "missed"      // it should have held the call back
	Withdrawn  Opinion = "withdrawn"   // what was said earlier counts no more
)

// String is the opinion for people.
func (o Opinion) String() string {
	switch o {
	case FalseAlarm:
		return "false alarm"
	case Withdrawn:
		return "review withdrawn"
	}
	return string(o)
}

// ReviewPath is what records of reviews have in the place of [DecisionPath].
const ReviewPath = "gate/review"

// NewReview makes the review of a decision. What nobody can mean is an error: a false alarm
// where nothing was held back or remarked on, and a miss where something was held back.
func NewReview(r *Record, says Opinion, note string) (*Review, error) {
	v := &Review{Of: r.ID, Key: r.Key, Says: says, Policies: r.spoke(), Note: note}
	switch {
	case !r.IsDecision():
		return nil, errNoCall
	case says == FalseAlarm && len(v.Policies) == 0 && !r.HeldBack():
		return nil, errors.New("no policy objected to it, so there was no alarm")
	case says == Missed && r.HeldBack():
		return nil, errors.New("it was held back, so nothing was missed")
	}
	return v, nil
}

// IsDecision reports a record about an event of an agent, and none about a bundle or a
// review.
func (r *Record) IsDecision() bool { return r.Sync == nil && r.Review == nil }

// Decided are the policies that held an event back or changed it, each once, in order.
func (r *Record) Decided() []string {
	var list []string
	for _, why := range r.Reasons {
		if why.Effect == r.Effect && r.Effect != hook.Pass {
			list = append(list, why.ID)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(append(list, r.Changed...))))
}

// spoke are the policies that a person can find wrong: those that decided, that warned, and
// that would have objected.
func (r *Record) spoke() []string {
	list := r.Decided()
	for _, why := range r.Warned {
		list = append(list, why.ID)
	}
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Objects() {
			list = append(list, p.ID)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// name is what tells a record from all others.
func (r *Record) name() string { return cmp.Or(r.Key, r.ID) }

// Reviews are those of a log that is read from its newest record on. The zero Reviews has
// met none.
type Reviews struct {
	of map[string]*Review // the newest, by the name of the record
}

// Add takes in the next older record.
func (v *Reviews) Add(r *Record) {
	if r.Review == nil {
		return
	}
	name := cmp.Or(r.Review.Key, r.Review.Of)
	if _, newer := v.of[name]; newer {
		return
	}
	if v.of == nil {
		v.of = map[string]*Review{}
	}
	v.of[name] = r.Review
}

// Of returns what counts of a decision, nil: nobody said anything, or took it back.
func (v *Reviews) Of(r *Record) *Review {
	if found := v.of[r.name()]; found != nil && found.Says != Withdrawn {
		return found
	}
	return nil
}

// Review returns what a person said of a decision last, nil: nothing that counts.
func (h *History) Review(r *Record) (*Review, error) {
	var all Reviews
	for newer, err := range h.Newest() {
		var torn *TornError
		if err != nil {
			if !errors.As(err, &torn) {
				return nil, err
			}
			continue
		}
		if newer.name() == r.name() && newer.Time.Equal(r.Time) {
			break
		}
		all.Add(&newer)
	}
	return all.Of(r), nil
}

// write writes the review as a part of the result.
func (v *Review) write(w *strictjson.Writer) {
	w.Object()
	w.Key("decision").Text(clip(v.Of, maxText))
	if v.Key != "" {
		w.Key("decision_id").Text(clip(v.Key, maxText))
	}
	if v.Note != "" {
		w.Key("note").Text(short(v.Note, maxText))
	}
	if len(v.Policies) > 0 {
		w.Key("policies").Value(texts(v.Policies))
	}
	w.Key("says").Text(clip(string(v.Says), maxText))
	w.EndObject()
}

// reviewOf reads the review of a record; nil: it is about something else.
func reviewOf(path string, result fields, r *Record) *Review {
	if path != ReviewPath {
		return nil
	}
	f := result.object("review")
	return &Review{
		Of: f.text("decision"), Key: f.text("decision_id"), Says: Opinion(f.text("says")), Policies: f.texts("policies"), Note: f.text("note"), By: r.User, At: r.Time,
	}
}

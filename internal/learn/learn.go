// Package learn proposes policies that allow what a person let through before.
//
// It groups calls by their effects and by where these lie, never by their text, and
// leaves out what nobody can prove harmless, with the reason. Each proposal is a grant
// within data.gate.proof of the library, which proves each call anew. So a call that
// should not have been let through widens nothing. Start with [Propose];
// [Proposal.Files] writes a proposal down as an author would.
package learn

import (
	"maps"
	"slices"

	"gate/hook"
)

// MaxProposals is how many proposals there are at most: more than a person reads.
const MaxProposals = 10

// MaxPlaces is how many places a proposal names at most.
const MaxPlaces = 8

// A Question is a call that somebody was asked about and let through.
type Question struct {
	Event   *hook.Event // with its facts
	Project string      // the root of its project
	Held    string      // the policy that asks about the call, or denies it, by itself; "" if none does
	Looks   bool        // a policy of gate.quiet allows it as it is
	At      string      // where it was read
}

// A Grant is what a proposal allows, within what data.gate.proof proves.
type Grant struct {
	Programs map[string][]string // the options of each program
	How      []string            // of files of the project: create, edit
	Removes  []string            // names of directories in the project that tools make again
	Places   []string            // outside of the project, to be looked at
}

// A Proposal is one policy.
type Proposal struct {
	Name  string // its package is learned.NAME
	Title string
	Grant Grant
	Calls []Question // that it was made of, in their order
}

// A Refusal is why calls that a person let through became no proposal.
type Refusal struct {
	Reason string
	Calls  []Question
}

// Propose groups calls into proposals, those of the most calls first, and says of the
// rest why not.
func Propose(list []Question) (proposals []Proposal, refusals []Refusal) {
	places := placesOf(list)
	byName, byReason := map[string]*Proposal{}, map[string][]Question{}
	for _, q := range list {
		p, why := propose(q, places)
		if why != "" {
			byReason[why] = append(byReason[why], q)
			continue
		}
		if have := byName[p.Name]; have != nil {
			have.join(p)
			continue
		}
		byName[p.Name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		proposals = append(proposals, *byName[name])
	}
	slices.SortStableFunc(proposals, func(a, b Proposal) int { return len(b.Calls) - len(a.Calls) })
	if len(proposals) > MaxProposals {
		for _, p := range proposals[MaxProposals:] {
			byReason[reasonMany] = append(byReason[reasonMany], p.Calls...)
		}
		proposals = proposals[:MaxProposals]
	}
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		refusals = append(refusals, Refusal{why, byReason[why]})
	}
	slices.SortStableFunc(refusals, func(a, b Refusal) int { return len(b.Calls) - len(a.Calls) })
	return proposals, refusals
}

// join takes in a proposal of the same name.
func (p *Proposal) join(o *Proposal) {
	for name, options := range o.Grant.Programs {
		p.Grant.Programs[name] = union(p.Grant.Programs[name], options)
	}
	p.Grant.How = union(p.Grant.How, o.Grant.How)
	p.Grant.Removes = union(p.Grant.Removes, o.Grant.Removes)
	p.Grant.Places = union(p.Grant.Places, o.Grant.Places)
	p.Calls = append(p.Calls, o.Calls...)
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// propose makes a proposal of one call, or says why it makes none.
func propose(q Question, places []string) (*Proposal, string) {
	if why := refuse(q); why != "" {
		return nil, why
	}
	p := &Proposal{Grant: Grant{Programs: map[string][]string{}}, Calls: []Question{q}}
	if s := q.Event.Facts.Shell; s != nil {
		for i := range s.Commands {
			p.Grant.program(&s.Commands[i], q.Event.Facts.Effects)
		}
	}
	for i := range q.Event.Facts.Effects {
		if why := p.Grant.effect(&q.Event.Facts.Effects[i]); why != "" {
			return nil, why
		}
	}
	p.Grant.looked(q.Event.Facts, places)
	if len(p.Grant.Places) > MaxPlaces {
		return nil, reasonPlaces
	}
	switch p.name(); {
	case p.Name != "":
		return p, ""
	case q.Event.Facts.Shell == nil:
		return nil, reasonInside
	}
	return nil, reasonRuns
}

// Narrowed proposes what Propose does, but of those calls only that a proposal really
// allows. The rest is refused.
func Narrowed(list []Question, allowed func(*Question) bool) (proposals []Proposal, refusals []Refusal) {
	_, refusals = Propose(list)
	refused := map[*hook.Event]bool{}
	for _, r := range refusals {
		for _, q := range r.Calls {
			refused[q.Event] = true
		}
	}
	var kept, unproven []Question
	for i := range list {
		switch q := &list[i]; {
		case refused[q.Event]:
		case allowed(q):
			kept = append(kept, *q)
		default:
			unproven = append(unproven, *q)
		}
	}
	proposals, _ = Propose(kept)
	if len(unproven) > 0 {
		refusals = append(refusals, Refusal{ReasonUnproven, unproven})
	}
	return proposals, refusals
}

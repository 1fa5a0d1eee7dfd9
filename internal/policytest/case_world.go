package policytest

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/strictjson"
)

// world reads the world of a file or case.
func (p *caseParser) world(v any, at string) CaseWorld {
	var w CaseWorld
	if v == nil {
		return w
	}
	m, ok := v.(map[string]any)
	if !ok {
		p.fail(at, "world must be an object")
		return w
	}
	p.known(m, at, "head", "files", "env", "library", "trusted", "settings", "sources", "as", "session", "gate")
	w.Head, _ = get[string](p, m, at, "head", "a branch")
	w.Files = p.textMap(m, at, "files")
	w.Env = p.textMap(m, at, "env")
	if b, ok := get[bool](p, m, at, "library", "true or false"); ok {
		w.Library = &b
	}
	if b, ok := get[bool](p, m, at, "trusted", "true or false"); ok {
		w.Trusted = &b
	}
	w.Session, _ = get[map[string]any](p, m, at, "session", "an object")
	w.As, _ = get[string](p, m, at, "as", "whose the policies are")
	if w.As != "" && !isSource(w.As) {
		p.fail(at+"/as", "as: %q is not one of %s, plugin:NAME", w.As, strings.Join(authorities, ", "))
	}
	p.settings(&w, m, at)
	p.sources(&w, m, at)
	p.gate(&w, m, at)
	return w
}

func (p *caseParser) textMap(m map[string]any, at, key string) map[string]string {
	object, ok := get[map[string]any](p, m, at, key, "an object of texts")
	if !ok {
		return nil
	}
	out := make(map[string]string, len(object))
	for _, k := range slices.Sorted(maps.Keys(object)) {
		s, isText := object[k].(string)
		if !isText {
			p.fail(load.Below(at+"/"+key, k), "%s.%s: %s where a text is wanted; quote it", key, k, strictjson.TypeName(object[k]))
		}
		out[k] = s
	}
	return out
}

func (p *caseParser) settings(w *CaseWorld, m map[string]any, at string) {
	object, ok := get[map[string]any](p, m, at, "settings", "an object")
	if !ok {
		return
	}
	at += "/settings"
	p.known(object, at, authorities...)
	w.Setting = map[string]map[string]any{}
	for _, whose := range authorities {
		said, ok := get[map[string]any](p, object, at, whose, "what the settings file says")
		if !ok {
			continue
		}
		w.Setting[whose] = said
		for _, problem := range settingsProblems(whose, said) {
			p.fail(at+"/"+whose, "settings of %s: %s", whose, problem)
		}
	}
}

func (p *caseParser) sources(w *CaseWorld, m map[string]any, at string) {
	object, ok := get[map[string]any](p, m, at, "sources", "an object")
	if !ok {
		return
	}
	at += "/sources"
	w.Sources = map[string][]string{}
	for _, whose := range slices.Sorted(maps.Keys(object)) {
		pointer := load.Below(at, whose)
		if !isSource(whose) {
			p.errs = append(p.errs, p.doc.UnknownKey(at, whose, append(slices.Clone(authorities), "plugin:NAME")))
			continue
		}
		w.Sources[whose] = p.texts(object[whose], pointer, "sources."+whose)
	}
}

// gate takes input.gate over when Event can make something of it.
func (p *caseParser) gate(w *CaseWorld, m map[string]any, at string) {
	object, ok := get[map[string]any](p, m, at, "gate", "an object")
	if !ok {
		return
	}
	at += "/gate"
	p.known(object, at, "user", "os", "interactive", "labels", "now")
	r := specReader{spec: object}
	if r.gate(); r.err != nil {
		p.fail(at, "gate: %w", r.err)
	}
	w.Gate = object
}

// expectation reads what must come of a case: an effect, or an object.
func (p *caseParser) expectation(m map[string]any, at string) Expectation {
	var e Expectation
	v, there := m["expect"]
	at += "/expect"
	if !there {
		p.fail(at, "the %s expects nothing; write expect: pass, allow, ask or deny, or an object", p.noun)
		return e
	}
	if word, ok := v.(string); ok {
		e.Effect = p.effect(word, at)
		return e
	}
	object, ok := v.(map[string]any)
	if !ok || len(object) == 0 {
		p.fail(at, "the %s expects nothing; write expect: pass, allow, ask or deny, or an object", p.noun)
		return e
	}
	p.known(object, at, "effect", "ids", "reason", "rewrite", "output", "context", "warnings", "halt", "faults", "marks")
	if word, ok := get[string](p, object, at, "effect", "pass, allow, ask or deny"); ok {
		e.Effect = p.effect(word, at+"/effect")
	}
	for _, list := range []struct {
		key string
		to  *[]string
	}{{"ids", &e.IDs}, {"reason", &e.Reasons}, {"context", &e.Context}, {"warnings", &e.Warnings}, {"faults", &e.Faults}} {
		if v, ok := object[list.key]; ok {
			*list.to = p.texts(v, at+"/"+list.key, list.key)
		}
	}
	if v, ok := object["rewrite"]; ok {
		e.Rewrite = &Value{v}
	}
	if v, ok := object["output"]; ok {
		e.Output = &Value{v}
	}
	if b, ok := get[bool](p, object, at, "halt", "true or false"); ok {
		e.Halt = &b
	}
	if marks, ok := get[map[string]any](p, object, at, "marks", "values by the names of marks"); ok {
		e.Marks = marks
	}
	if object["reason"] != nil && len(object) == 1 && len(e.Reasons) == 0 {
		p.fail(at, "the %s expects nothing: an empty list of reasons is true of every decision", p.noun)
	}
	return e
}

func (p *caseParser) effect(word, at string) *hook.Effect {
	for e := hook.Pass; e <= hook.Deny; e++ {
		if e.String() == word {
			return &e
		}
	}
	p.fail(at, "%s is no effect; it is pass, allow, ask or deny", strconv.Quote(word))
	return nil
}

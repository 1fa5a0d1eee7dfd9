package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"gate/internal/policycheck"
)

// An about is what a request about a place in a document is answered from.
type about struct {
	d       *document
	at      int    // the offset
	name    string // of the document among the files of the target
	target  *watched
	learned *policycheck.Inspection
}

// about returns what is known about a place. learned is nil where nothing is.
func (s *server) about(ctx context.Context, params json.RawMessage) (about, error) {
	d, at, err := s.document(ctx, params)
	a := about{d: d, at: at}
	if err != nil || !isRego(d.path) {
		return a, err
	}
	s.mu.Lock()
	a.target = s.of[d.path]
	s.mu.Unlock()
	if a.target == nil {
		return a, nil
	}
	name, err := filepath.Rel(a.target.dir, d.path)
	if err != nil {
		return a, failed("%v", err)
	}
	a.name = filepath.ToSlash(name)
	select {
	case <-a.target.done: // the first check is over
	case <-ctx.Done():
		return a, ctx.Err()
	}
	a.target.mu.Lock()
	a.learned = a.target.checked
	a.target.mu.Unlock()
	return a, nil
}

// view looks at the document, nil where nothing is known.
func (a *about) view() *policycheck.View {
	if a.learned == nil {
		return nil
	}
	return a.learned.View(a.name, a.d.text)
}

// hover says what a word means.
func (s *server) hover(ctx context.Context, params json.RawMessage) (any, error) {
	a, err := s.about(ctx, params)
	if err != nil {
		return nil, err
	}
	v := a.view()
	if v == nil {
		return nil, nil
	}
	n := v.Note(a.at)
	if n == nil {
		return nil, nil
	}
	return hoverResult{s.markup(n.Text), a.d.span(n.From, n.To)}, nil
}

// markup is Markdown as the editor shows it.
func (s *server) markup(text string) markup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain {
		return markup{"plaintext", strings.NewReplacer("```rego\n", "", "\n```", "", "`", "", "**", "").Replace(text)}
	}
	return markup{"markdown", text}
}

// definition says where a name comes from.
func (s *server) definition(ctx context.Context, params json.RawMessage) (any, error) {
	a, err := s.about(ctx, params)
	if err != nil {
		return nil, err
	}
	v := a.view()
	if v == nil {
		return nil, nil
	}
	list := []location{}
	open, _ := s.documents()
	for _, spot := range v.Definition(a.at) {
		path := filepath.Join(a.target.dir, filepath.FromSlash(spot.File))
		if spot.Library && !a.target.library {
			if path, err = s.options.Machine.Library(spot.File); err != nil {
				return nil, failed("%s is gate's own, and cannot be shown: %v", spot.File, err)
			}
		}
		at := position{max(spot.Line-1, 0), max(spot.Column-1, 0)}
		if d := open[path]; d != nil {
			at = d.position(d.column(spot.Line, spot.Column))
		}
		list = append(list, location{uriOf(path), span{at, at}})
	}
	return list, nil
}

// kindsOfWords are the protocol's kinds of completions.
var kindsOfWords = [...]int{
	policycheck.KeyWord: 10, policycheck.FieldWord: 5, policycheck.ValueWord: 12, policycheck.RuleWord: 3, policycheck.VariableWord: 6,
	policycheck.PackageWord: 9, policycheck.ParamWord: 21, policycheck.BuiltinWord: 3, policycheck.LanguageWord: 14,
}

// maxWords bounds what is offered at once. Beyond it the editor asks again as the person
// types.
const maxWords = 500

// completion says what may stand in a place.
func (s *server) completion(ctx context.Context, params json.RawMessage) (any, error) {
	a, err := s.about(ctx, params)
	if err != nil || a.learned == nil {
		return completionList{Items: []completionItem{}}, err
	}
	words, from, to := a.learned.Complete(a.name, a.d.text, a.at)
	list := completionList{Items: []completionItem{}}
	typed := a.d.text[from:a.at]
	replaced := a.d.span(from, to)
	for _, w := range words {
		if !strings.HasPrefix(strings.ToLower(w.Text), strings.ToLower(typed)) {
			continue
		}
		if len(list.Items) >= maxWords {
			list.Incomplete = true
			break
		}
		item := completionItem{Label: w.Text, Kind: kindsOfWords[w.Kind], Edit: &textEdit{replaced, w.Text}}
		if w.Index { // the dot before it goes
			item.Filter = "." + w.Text
			item.Edit = &textEdit{a.d.span(from-1, to), fmt.Sprintf("[%q]", w.Text)}
		}
		if w.Note != "" {
			m := s.markup(w.Note)
			item.Doc = &m
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// kindsOfSymbols are the protocol's kinds of symbols.
var kindsOfSymbols = [...]int{
	policycheck.PackageSymbol: 4, policycheck.RuleSymbol: 13, policycheck.FunctionSymbol: 12, policycheck.TestSymbol: 6,
}

// symbols lists what a document defines.
func (s *server) symbols(ctx context.Context, params json.RawMessage) (any, error) {
	a, err := s.about(ctx, params)
	if err != nil {
		return nil, err
	}
	list := []documentSymbol{}
	v := a.view()
	if v == nil {
		return list, nil
	}
	for _, x := range v.Symbols() {
		list = append(list, documentSymbol{
			Name: x.Name, Detail: x.Detail, Kind: kindsOfSymbols[x.Kind], Range: a.d.span(x.From, x.To), Selection: a.d.span(x.From, x.NameTo),
		})
	}
	return list, nil
}

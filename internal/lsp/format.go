package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"

	"gate/internal/policycheck"
)

// formatting returns what makes of a document what gate fmt would.
func (s *server) formatting(ctx context.Context, params json.RawMessage) (any, error) {
	d, _, err := s.document(ctx, params)
	if err != nil {
		return nil, err
	}
	if !isRego(d.path) {
		return nil, failed("%s is no Rego, and gate formats nothing else", filepath.Base(d.path))
	}
	now, err := policycheck.Format(filepath.Base(d.path), []byte(d.text))
	if err != nil {
		return nil, failed("%v", err)
	}
	if string(now) == d.text {
		return []textEdit{}, nil
	}
	return []textEdit{{d.whole(), string(now)}}, nil
}

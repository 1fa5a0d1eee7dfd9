package conformance

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"gate/internal/strictjson"
)

//go:embed testdata/authzen/certification-cases.json
var authzenFile embed.FS

// A Poster sends a request to a decision point of AuthZEN, and returns the status and the
// body of the answer.
type Poster func(ctx context.Context, path, contentType string, body []byte) (status int, answer []byte, err error)

// AuthZEN drives the cases of the certification's scenario, which a decision point answers
// as they say once it knows the scenario's subjects and records. Searches are tried only
// where they are offered.
func AuthZEN(ctx context.Context, post Poster, searches bool) ([]Finding, error) {
	data, err := authzenFile.ReadFile("testdata/authzen/certification-cases.json")
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return nil, err
	}
	var list []Finding
	cases, _ := doc["cases"].([]any)
	for _, v := range cases {
		c, _ := v.(map[string]any)
		f := Finding{ID: text(c, "section"), About: strings.TrimSuffix(text(c, "title")+", "+text(c, "note"), ", "), Outcome: Held}
		switch request, _ := c["request"].(map[string]any); {
		case strings.Contains(text(c, "endpoint"), "/search/") && !searches:
			f.Outcome, f.Why = NotApplicable, "searches are not offered"
		default:
			if err := authzenCase(ctx, post, c, request); err != nil {
				f.Outcome, f.Why = Differs, err.Error()
			}
		}
		list = append(list, f)
	}
	return append(list, authzenForms(ctx, post)...), nil
}

const jsonType = "application/json"

// authzenCase sends a request twice: the same request has the same answer.
func authzenCase(ctx context.Context, post Poster, c, request map[string]any) error {
	want, _ := c["expect"].(map[string]any)
	for range 2 {
		status, body, err := post(ctx, text(c, "endpoint"), jsonType, strictjson.Append(nil, request))
		if err != nil {
			return err
		}
		if err := holds(want, status, body); err != nil {
			return err
		}
	}
	return nil
}

// holds compares an answer with what is expected of it.
func holds(want map[string]any, status int, body []byte) error {
	if number, _ := want["status"].(json.Number); number.String() != fmt.Sprint(status) {
		return fmt.Errorf("the status is %d, and %s is wanted", status, number)
	}
	if status != 200 {
		return nil
	}
	doc, err := strictjson.Object(body, strictjson.Limits{})
	if err != nil {
		return fmt.Errorf("the answer is no JSON object: %w", err)
	}
	if decision, given := want["decision"]; given && doc["decision"] != decision {
		return fmt.Errorf("the decision is %v, and %v is wanted", doc["decision"], decision)
	}
	items, _ := doc["evaluations"].([]any)
	var decisions []any
	for _, v := range items {
		item, _ := v.(map[string]any)
		if _, ok := item["decision"].(bool); !ok {
			return fmt.Errorf("an item has no decision")
		}
		decisions = append(decisions, item["decision"])
	}
	if list, given := want["decisions"].([]any); given && fmt.Sprint(list) != fmt.Sprint(decisions) {
		return fmt.Errorf("the decisions are %v, and %v are wanted", decisions, list)
	}
	if n, given := want["evaluations_length"].(json.Number); given && n.String() != fmt.Sprint(len(items)) {
		return fmt.Errorf("%d evaluations are answered, and %s are wanted", len(items), n)
	}
	return results(want, doc)
}

// results compares what a search found.
func results(want, doc map[string]any) error {
	found, _ := doc["results"].([]any)
	if list, given := want["results"].([]any); given && len(list) != len(found) {
		return fmt.Errorf("%d results, and %d are wanted", len(found), len(list))
	}
	include, _ := want["results_include"].([]any)
	for _, one := range include {
		missing := true
		for _, f := range found {
			missing = missing && string(strictjson.Append(nil, f)) != string(strictjson.Append(nil, one))
		}
		if missing {
			return fmt.Errorf("the results lack %s", strictjson.Append(nil, one))
		}
	}
	return nil
}

// authzenForms sends what is no request.
func authzenForms(ctx context.Context, post Poster) []Finding {
	good := `{"subject":{"type":"user","id":"alice"},"action":{"name":"read"},"resource":{"type":"record","id":"record-1"}}`
	var list []Finding
	for _, row := range []struct{ id, about, media, body string }{
		{"form-media", "another content type", "text/plain", good},
		{"form-json", "not JSON", jsonType, good[:20]},
		{"form-empty", "an empty body", jsonType, ""},
		{"form-twice", "a member twice", jsonType, `{"subject":{"type":"user","id":"bob"},` + good[1:]},
	} {
		f := Finding{ID: row.id, About: row.about, Outcome: Held}
		status, _, err := post(ctx, "/access/v1/evaluation", row.media, []byte(row.body))
		if err == nil && status != 400 {
			err = fmt.Errorf("the status is %d, and 400 is wanted", status)
		}
		if err != nil {
			f.Outcome, f.Why = Differs, err.Error()
		}
		list = append(list, f)
	}
	return list
}

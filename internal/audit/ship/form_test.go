package ship_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gate/internal/audit"
	"gate/internal/audit/ship"
)

// twice is a form of two requests for a batch, whose answers say what was refused.
type twice struct{}

func (twice) Requests(batch []audit.Sendable) ([]ship.Request, error) {
	answer := func(_ string, body []byte) (ship.Refusal, error) {
		said, ok := strings.CutPrefix(string(body), "refused ")
		if len(body) > 0 && !ok {
			return ship.Refusal{}, errors.New("garbage")
		}
		return ship.Refusal{Items: int64(len(said)), Said: said + "\x1b\n"}, nil
	}
	text := batch[0].Text
	return []ship.Request{
		{Path: "/v1/one", Type: "text/x-one", Body: text, Answer: answer}, {Path: "/v1/two", Type: "text/x-two", Body: text, Answer: answer},
	}, nil
}

// TestForm posts each request of a batch below the address, counts a batch as sent when
// all have arrived, and says what was refused.
func TestForm(t *testing.T) {
	for _, test := range []struct {
		name    string
		one     string // answer to the first request: a status, or what stands in the body
		two     string
		wantErr string
		posted  string
		want    ship.Report
	}{
		{"taken", "", "", "", "one two", ship.Report{}},
		{"refused in part", "refused abc", "refused de", "", "one two", ship.Report{Refused: 5, Said: "abc"}},
		{"another answers", "<html>", "", "the server answered 200 OK: garbage", "one", ship.Report{}},
		{"an endless answer", strings.Repeat("x", 70_000), "", "longer than any answer", "one", ship.Report{}},
		{"the second fails", "", "404", "/v1/two: the server answered 404", "one two", ship.Report{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, 1, audit.Options{})
			var posted []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				name := strings.TrimPrefix(r.URL.Path, "/base/v1/")
				posted = append(posted, name)
				if want := "text/x-" + name; r.Header.Get("Content-Type") != want || r.URL.RawQuery != "tenant=a" {
					t.Errorf("%s %s", r.URL, r.Header.Get("Content-Type"))
				}
				said := test.one
				if name == "two" {
					said = test.two
				}
				if said == "404" {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				io.WriteString(w, said)
			}))
			defer server.Close()
			f.shipper.URL, f.shipper.Form = server.URL+"/base?tenant=a", twice{}
			r := f.ship(t, test.wantErr)
			if got := strings.Join(posted, " "); got != test.posted || r.Refused != test.want.Refused || r.Said != test.want.Said {
				t.Errorf("%s: %+v", got, r)
			}
			if sent := test.wantErr == ""; (r.Cursor.Seq == 1) != sent || (r.Records == 1) != sent {
				t.Errorf("%+v", r)
			}
		})
	}
}

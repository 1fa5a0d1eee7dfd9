package mcpproxy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gate/internal/mcpproxy"
	"gate/internal/pins"
)

// TestSilentChange has a tool change between a list and a call, without a word of the server:
// the call's result is withheld, and so is the next call.
func TestSilentChange(t *testing.T) {
	for name, c := range map[string]struct {
		wait    time.Duration // between the list and the call
		asks    string        // for the list: "beside" the call, "before" it or "" for never
		changed bool
	}{
		"at once":             {time.Second, "", true},
		"later, and the same": {10 * time.Second, "beside", false},
		"later":               {10 * time.Second, "beside", true},
		"much later":          {time.Minute, "before", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tell := func(string) {}
				book := mcpproxy.NewBook(pins.Store{Dir: t.TempDir()}, pins.Identity{pins.Command: "shop"}, tell)
				if held := book.Begin(t.Context(), "shop", false); held != "" {
					t.Fatal(held)
				}
				r := newRig(t, mcpproxy.Options{Server: "shop", Book: book}, nil)
				list := `{"tools":[{"name":"weigh","description":"weighs"}]}`
				answers := func() {
					t.Helper()
					asked := r.next(r.toServer)
					if !strings.Contains(asked, `"method":"tools/list"`) {
						t.Fatalf("the server got %s", asked)
					}
					_, id, _ := strings.Cut(asked, `"id":"`)
					id, _, _ = strings.Cut(id, `"`)
					r.serverSays(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, id, list))
				}
				call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weigh"}}`
				result := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
				r.clientSays(call)
				answers()
				r.hears(r.toServer, call)
				r.serverSays(result)
				r.hears(r.toClient, result)

				time.Sleep(c.wait)
				if c.changed {
					list = `{"tools":[{"name":"weigh","description":"weighs, and more"}]}`
				}
				r.clientSays(call)
				if c.asks == "before" {
					answers()
					if got := r.next(r.toClient); !strings.Contains(got, "has changed since the first use") || strings.Contains(got, "has run") {
						t.Errorf("got %s", got)
					}
					return
				}
				r.hears(r.toServer, call)
				if c.asks == "beside" {
					answers()
				}
				r.serverSays(result)
				got := r.next(r.toClient)
				if c.asks == "" || !c.changed {
					if got != result {
						t.Errorf("got %s", got)
					}
					return
				}
				if !strings.Contains(got, "the server has run this call, and its result is withheld: ") || !strings.Contains(got, "has changed since the first use") {
					t.Errorf("got %s", got)
				}
				r.clientSays(call)
				answers() // a person may have accepted it
				if got := r.next(r.toClient); !strings.Contains(got, "has changed since the first use") || strings.Contains(got, "has run") {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// TestSlowList hands a result on when the server does not say what its tools are, and holds
// no other call up.
func TestSlowList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := mcpproxy.NewBook(pins.Store{Dir: t.TempDir()}, pins.Identity{pins.Command: "shop"}, func(string) {})
		book.Begin(t.Context(), "shop", false)
		r := newRig(t, mcpproxy.Options{Server: "shop", Book: book}, nil)
		call := func(id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"weigh"}}`, id)
		}
		result := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, id) }
		r.clientSays(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
		r.next(r.toServer)
		r.serverSays(`{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"weigh"}]}}`)
		r.next(r.toClient)
		time.Sleep(5 * time.Second)
		r.clientSays(call(1))
		r.hears(r.toServer, call(1))
		if got := r.next(r.toServer); !strings.Contains(got, "tools/list") {
			t.Errorf("the server got %s", got)
		}
		r.clientSays(call(2))
		r.hears(r.toServer, call(2))
		began := time.Now()
		r.serverSays(result(2), result(1))
		got := map[string]bool{r.next(r.toClient): true, r.next(r.toClient): true}
		if !got[result(1)] || !got[result(2)] || time.Since(began) != 2*time.Second {
			t.Errorf("got %v after %v", got, time.Since(began))
		}
	})
}

package install

import (
	"fmt"
	"strings"

	"gate/internal/strictjson"
)

// group renders gate's entry for an event on one line. The exec form (args)
// needs no shell and no quoting.
func (c claude) group(m Machine, s Scope, e claudeEvent, st style) string {
	return c.groupOf(c.line(m, s, e.name), e, st)
}

// groupOf renders an entry that starts words.
func (claude) groupOf(words []string, e claudeEvent, st style) string {
	b := &lineWriter{blank: st.blank}
	b.open('{')
	if e.matcher {
		b.key("matcher").text("*")
	}
	b.key("hooks").open('[').open('{')
	b.key("type").text("command")
	b.key("command").text(words[0])
	b.key("args").open('[')
	for _, w := range words[1:] {
		b.text(w)
	}
	b.close(']')
	b.key("timeout").raw(fmt.Sprint(e.timeout))
	if e.block {
		b.key("onFailure").text("block")
	}
	b.close('}').close(']').close('}')
	return b.String()
}

// A lineWriter writes JSON on one line.
type lineWriter struct {
	strings.Builder
	blank string // after colons and commas
	next  bool   // a comma comes before the next item
}

func (b *lineWriter) open(bracket byte) *lineWriter {
	b.comma()
	b.WriteByte(bracket)
	b.next = false
	return b
}

func (b *lineWriter) close(bracket byte) *lineWriter {
	b.WriteByte(bracket)
	b.next = true
	return b
}

func (b *lineWriter) comma() {
	if b.next {
		b.WriteString("," + b.blank)
	}
	b.next = true
}

func (b *lineWriter) key(name string) *lineWriter {
	b.comma()
	b.WriteString(jsonText(name) + ":" + b.blank)
	b.next = false
	return b
}

func (b *lineWriter) text(s string) { b.raw(jsonText(s)) }

func (b *lineWriter) raw(s string) {
	b.comma()
	b.WriteString(s)
}

func jsonText(s string) string { return string(strictjson.Append(nil, s)) }

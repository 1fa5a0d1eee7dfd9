package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"gate/internal/pins"
	"gate/internal/strictjson"
)

// A Book holds one server against what it was at its first use. Make one with
// [NewBook]; one Book is for one Run.
type Book struct {
	store pins.Store
	tell  func(string)

	mu       sync.Mutex
	identity pins.Identity
	name     string // of the server; "" is not known yet
	told     bool   // by itself
	held     string // why nothing of the server passes; "": it may
	first    map[pins.Kind]bool
}

// NewBook returns the book of a server that is who identity says, as far as that is known
// before it answers. What a person should know goes to tell.
func NewBook(store pins.Store, identity pins.Identity, tell func(string)) *Book {
	return &Book{store: store, tell: tell, identity: maps.Clone(identity), first: map[pins.Kind]bool{}}
}

// Begin tells the book the server's name, and returns why nothing of it may pass, "" if
// it may. told says that the server told the name itself.
func (b *Book) Begin(ctx context.Context, name string, told bool) (held string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name, b.told = name, told
	return b.compare(ctx)
}

// Meet tells the book the digest of the public key that the server's certificate is for.
// An error says why the server must not be talked to.
func (b *Book) Meet(ctx context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	met := b.identity[pins.PublicKey]
	b.identity[pins.PublicKey] = key
	if b.name == "" && met != "" && met != key {
		b.hold("its certificate has another public key than a moment ago")
	} else if b.name != "" {
		b.compare(ctx)
	}
	if b.held != "" {
		return errors.New(b.held)
	}
	return nil
}

// Held is why nothing of the server passes, "" if it may.
func (b *Book) Held() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

func (b *Book) compare(ctx context.Context) string {
	changes, err := b.store.Begin(ctx, b.name, b.told, b.identity)
	switch {
	case err != nil:
		b.hold(err.Error())
	case len(changes) > 0:
		var what []string
		for _, c := range changes {
			what = append(what, c.Name)
		}
		b.hold(fmt.Sprintf("%s changed since its first use: %s; a person can look at it with: gate mcp accept %s",
			b.quoted(), strings.Join(what, ", "), b.quoted()))
		b.tellChanges(changes)
	}
	return b.held
}

func (b *Book) hold(why string) {
	if b.held == "" {
		b.held = "nothing of this MCP server passes: " + why
		b.tell(b.held)
	}
}

func (b *Book) quoted() string { return strictjson.Quoted(clip(b.name)) }

// mostDiffs is how many changes of one list are shown whole.
const mostDiffs = 8

// tellChanges shows a person what is withheld.
func (b *Book) tellChanges(changes []pins.Change) {
	var text strings.Builder
	fmt.Fprintf(&text, "withheld of the MCP server %s:\n", b.quoted())
	for i, c := range changes {
		if i == mostDiffs {
			fmt.Fprintf(&text, "and %d more: gate mcp list %s\n", len(changes)-i, b.quoted())
			break
		}
		fmt.Fprintf(&text, "%s\n%s", c, c.Diff())
	}
	fmt.Fprintf(&text, "a person accepts it at a terminal with: gate mcp accept %s", b.quoted())
	b.tell(text.String())
}

// look holds a part of a list against what was pinned, and returns for each definition
// why it is withheld, "" if it is not. last says that the list ends here.
func (b *Book) look(ctx context.Context, kind pins.Kind, part []pins.Definition, last bool) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held != "" {
		return nil, errors.New(b.held)
	}
	held, open, err := b.store.List(ctx, b.name, kind, b.first[kind], part)
	if err != nil {
		return nil, fmt.Errorf("what this MCP server was at its first use is not known: %w", err)
	}
	b.first[kind] = open && !last
	why := make([]string, len(part))
	var changes []pins.Change
	for i, c := range held {
		if c != nil {
			why[i] = b.waits(c)
			changes = append(changes, *c)
		}
	}
	if len(changes) > 0 {
		b.tellChanges(changes)
	}
	return why, nil
}

func (b *Book) waits(c *pins.Change) string {
	return fmt.Sprintf("%s since the first use of the MCP server %s, and waits for a person, who can look at it with: gate mcp accept %s", c, b.quoted(), b.quoted())
}

// refuses returns why a prompt or a resource must not be used, "" if it may.
func (b *Book) refuses(kind pins.Kind, name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	used, pinned, held, err := b.store.Has(b.name, kind, name)
	switch {
	case b.held != "":
		return b.held
	case err != nil:
		return "what this MCP server was at its first use is not known: " + err.Error()
	case held != nil:
		return b.waits(held)
	case kind == pins.Prompts && used && !pinned:
		return "the server did not list this prompt"
	}
	return ""
}

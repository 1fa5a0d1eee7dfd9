package rego

import (
	"os"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// FuzzDecode reads foreign bytes as a section, past its checksum: whatever they
// are, they end in rules or in an error.
func FuzzDecode(f *testing.F) {
	data, err := os.ReadFile("../../policies/library.snapshot")
	if err != nil {
		f.Fatal(err)
	}
	library := &snapshot{data: string(data)}
	if err := library.read(); err != nil {
		f.Fatal(err)
	}
	for _, file := range library.files {
		f.Add(file.section)
	}
	f.Add("\x00\x01\x00\x00\x00")
	f.Fuzz(func(t *testing.T, section string) {
		m, err := decodeModule(&savedFile{file: "p.rego", pkg: "acme.p", section: section}, nil)
		if err != nil {
			return
		}
		for _, r := range m.Rules {
			if r.Head == nil || len(r.Head.Ref()) == 0 {
				t.Error("a rule without a name")
			}
		}
		if callsNone(section) != nil {
			t.Error("it calls what is not granted")
		}
		again := &encoder{}
		again.module(m)
		if again.err != nil {
			return // a damaged section can hold what no compiler makes
		}
		if _, err := decodeModule(&savedFile{file: "p.rego", pkg: "acme.p", section: string(again.buf)}, nil); err != nil {
			t.Errorf("written again: %v", err)
		}
	})
}

// callsNone reads a section that is granted no builtin, and returns one that it
// calls all the same.
func callsNone(section string) (called ast.Ref) {
	m, err := decodeModule(&savedFile{file: "p.rego", pkg: "acme.p", section: section}, func(string) bool { return false })
	if err != nil {
		return nil
	}
	look := func(terms []*ast.Term) {
		if name, ok := terms[0].Value.(ast.Ref); ok && !name.HasPrefix(ast.DefaultRootRef) && !name.HasPrefix(ast.InputRootRef) {
			called = name
		}
	}
	for _, r := range m.Rules {
		ast.WalkExprs(r, func(x *ast.Expr) bool {
			if terms, ok := x.Terms.([]*ast.Term); ok {
				look(terms)
			}
			return false
		})
		ast.WalkTerms(r, func(t *ast.Term) bool {
			if c, ok := t.Value.(ast.Call); ok {
				look(c)
			}
			return false
		})
	}
	return called
}

// FuzzHead reads foreign bytes as a whole snapshot.
func FuzzHead(f *testing.F) {
	f.Add(snapshotMagic)
	data, err := os.ReadFile("../../policies/library.snapshot")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, data string) {
		s := &snapshot{data: data}
		if s.read() == nil && len(s.files) == 0 {
			t.Error("read, and nothing is there")
		}
	})
}

// TestDecodedTree holds that rules which were read back print as they did.
func TestDecodedTree(t *testing.T) {
	m := ast.MustParseModule("package acme.p\n\nallow contains x if { some x in {1, \"a\", null, [true, {\"k\": false}]}; x != 2 with input as 1 }\n")
	c := ast.MustCompileModules(map[string]string{"p": m.String()})
	e := &encoder{}
	e.module(c.Modules["p"])
	if e.err != nil {
		t.Fatal(e.err)
	}
	got, err := decodeModule(&savedFile{file: "p.rego", pkg: "acme.p", section: string(e.buf)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range c.Modules["p"].Rules {
		if got.Rules[i].String() != r.String() {
			t.Errorf("%s\nwas %s", got.Rules[i], r)
		}
	}
}

package value_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/plan/value"
)

var texts = []string{"", "a", "b", "ab", "1", "true", "é", "\xff", "a\"b", "<&>", "\u2028", "\x00", "\t", strings.Repeat("long ", 20)}

var numbers = []string{
	"0", "-0", "0.0", "1", "1.0", "1.00", "-1", "1e0", "10", "1e1", "10.0", "0.1", "0.10", "1.5", "1.50", "1.500", "15e-1", "2", "3", "255", "1000", "1e3",
	"9007199254740992", "9007199254740993", "9007199254740993.0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
	"18446744073709551616", "1e30", "1000000000000000000000000000000", "0.1000000000000000055511151231257827", "0.30000000000000004",
	"1e400", "1e-400", "-1e400", "123456789012345678901234567890.123", "-2.5",
}

// random makes the same value twice: ours and OPA's.
func random(r *rand.Rand, depth int) (value.Value, *ast.Term) {
	kinds := 7
	if depth == 0 {
		kinds = 4
	}
	switch r.IntN(kinds) {
	case 0:
		return value.Null{}, ast.NullTerm()
	case 1:
		b := r.IntN(2) == 0
		return value.Bool(b), ast.BooleanTerm(b)
	case 2:
		text := numbers[r.IntN(len(numbers))]
		n, err := value.Number(text)
		if err != nil {
			panic(err)
		}
		return n, ast.NumberTerm(json.Number(text))
	case 3:
		s := texts[r.IntN(len(texts))]
		return value.String(s), ast.StringTerm(s)
	case 4:
		a, terms := &value.Array{}, []*ast.Term{}
		for range size(r) {
			v, t := random(r, depth-1)
			a.Append(v)
			terms = append(terms, t)
		}
		return a, ast.ArrayTerm(terms...)
	case 5:
		s, set := &value.Set{}, ast.NewSet()
		for range size(r) {
			v, t := random(r, depth-1)
			s.Add(v)
			set.Add(t)
			if r.IntN(8) == 0 {
				s.Elems()
			}
		}
		return s, ast.NewTerm(set)
	}
	o, obj := &value.Object{}, ast.NewObject()
	for range size(r) {
		k, kt := random(r, depth-1)
		v, vt := random(r, depth-1)
		if o.Get(k) != nil { // where keys collide, OPA may then hold one twice
			continue
		}
		o.Insert(k, v)
		obj.Insert(kt, vt)
		if r.IntN(8) == 0 {
			o.Pairs()
		}
	}
	return o, ast.NewTerm(obj)
}

func size(r *rand.Rand) int {
	if r.IntN(10) == 0 {
		return r.IntN(40)
	}
	return r.IntN(4)
}

func sign(n int) int { return max(-1, min(1, n)) }

// TestAgainstOPA holds order, equality, membership and text to OPA's.
func TestAgainstOPA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	equal := 0
	for range 20_000 {
		a, ta := random(r, 2)
		b, tb := random(r, 2)
		want := ast.Compare(ta, tb)
		if got := value.Compare(a, b); sign(got) != sign(want) {
			t.Fatalf("compare %s with %s: %d, OPA says %d", value.Text(a), value.Text(b), got, want)
		}
		if got := value.Equal(a, b); got != (want == 0) {
			t.Fatalf("%s equal to %s: %t", value.Text(a), value.Text(b), got)
		}
		if want == 0 {
			equal++
		}
		if got := value.Text(a); got != ta.String() {
			t.Fatalf("text %s, OPA says %s", got, ta)
		}
		if s, ok := a.(*value.Set); ok && s.Has(b) != ta.Value.(ast.Set).Contains(tb) {
			t.Fatalf("%s in %s", value.Text(b), value.Text(a))
		}
		if o, ok := a.(*value.Object); ok {
			if found := ta.Value.(ast.Object).Get(tb); (o.Get(b) == nil) != (found == nil) {
				t.Fatalf("%s of %s", value.Text(b), value.Text(a))
			}
		}
		if value.Weight(a) < 1 {
			t.Fatalf("weight of %s", value.Text(a))
		}
	}
	if equal < 100 {
		t.Errorf("only %d of the pairs were equal", equal)
	}
}

// TestJSONAgainstOPA writes and reads.
func TestJSONAgainstOPA(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		v, term := random(r, 3)
		x, err := ast.JSONWithOpt(term.Value, ast.JSONOpt{SortSets: true})
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		got := string(value.AppendJSON(nil, v))
		if got != string(want) {
			t.Fatalf("%s: %s, OPA says %s", value.Text(v), got, want)
		}
		back, err := value.ParseJSON(got)
		if err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		again := string(value.AppendJSON(nil, back))
		if strings.ReplaceAll(again, "\ufffd", `\ufffd`) != got {
			t.Fatalf("%s came back as %s", got, again)
		}
	}
}

// FuzzParseJSON reads any text as encoding/json does.
func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,-0,1e3,{"b":null}],"a":"\u00e9\ud83d\ude00\ud800x\n"}`, "[", "01", "1 2", "\"\xff\"", "-", "1e", "tru", "[1,]", "{\"a\"}", " true "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := value.ParseJSON(text)
		var x any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		wrong := d.Decode(&x)
		if wrong == nil && strings.TrimLeft(text[d.InputOffset():], " \t\r\n") != "" {
			wrong = fmt.Errorf("more follows")
		}
		var want ast.Value
		if wrong == nil {
			want, wrong = ast.InterfaceToValue(x)
		}
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v, OPA says %v", text, err, wrong)
		}
		if err != nil {
			return
		}
		if value.Text(got) != want.String() {
			t.Fatalf("%q: %s, OPA says %s", text, value.Text(got), want)
		}
		from, err := value.From(x)
		if err != nil || value.Compare(from, got) != 0 {
			t.Fatalf("%q: %v %v", text, from, err)
		}
	})
}

// TestAsInt holds which numbers can be places in an array.
func TestAsInt(t *testing.T) {
	for _, text := range numbers {
		v, err := value.Number(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := value.AsInt(v)
		want, wanted := ast.Number(text).Int64()
		if got != want || ok != wanted {
			t.Errorf("%s: %d %t, OPA says %d %t", text, got, ok, want, wanted)
		}
	}
	for _, text := range []string{"", "x", "1x", "0x10", "inf", "1_0", "--1", "1e", ".", "e5", "1e1000000", "1e999999999999"} {
		if v, err := value.Number(text); err == nil {
			t.Errorf("%q is the number %v", text, v)
		}
	}
}

// TestDoubling holds that a value which holds another twice, and so on, says how
// large it is.
func TestDoubling(t *testing.T) {
	var v value.Value = value.Int(1)
	for range 200 {
		v = value.NewArray(v, v)
	}
	if w := value.Weight(v); w < 1<<60 {
		t.Errorf("weight %d", w)
	}
}

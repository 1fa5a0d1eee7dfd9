package build_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// A generator makes operands: mostly of the type that is declared, now and then
// anything.
type generator struct {
	*rand.Rand
	given []string // texts of the fuzzer
}

// texts are what the builtins that read texts understand, or nearly.
var texts = strings.Split(strings.TrimSpace(`
a|b|ab|abc|aXbX|A|Ä|äöü|日本|a,b,,c|,|.|/|//|a/b/c|x.y.z|hello world| |	tab|"|\|%|%d|%s %v|%5.2f|%x %X|%q|%+v|%[2]d %[1]s|%!|%08.3f|%t|%e|%*d|%c|%U|%%|%z
^a|a+|(a)(b)?|[a-z]+|\d+|a|b$|(?i)AB|(|[|a{2}|\pL|(?P<n>a)|x*|$1|${1}|$0x|\\bword\\b|.*
*|**|a*|*.b|a.*.c|[a-c]|[!a]b|{a,b}|{a*,b*}c|a?c|{|\*|*.{js,ts}|{*a,*b}{*c,*d}|[abc]x|{,a}b|{a,{b,c*}}d|[a-|!|[]|[^a]
{"a":1}|[1,2.50,"x",null]|{"a":{"b":[1]}}|1e3|nul|true|"\u00e9\ud800"|[1,]|{"a":1}x|1e400|"<>&"|[[[]]]|{"a":1,"a":2}
YWJj|YWI=|YQ|_-8|////|====|616263|6|zz|a%20b|a+b|%zz|a=1&b=2&a=3|a=%zz|;|x&y=
2020-01-02T03:04:05Z|2020-01-02T03:04:05.123456789+02:00|2020-13-01|RFC3339|ANSIC|2006-01-02|Mon, 02 Jan 2006|UTC|Europe/Zurich|America/New_York|Local|Nowhere/Land||1600-01-01T00:00:00Z
1h30m|-2d|1w2d3h|1.5y|3x|ms|µs|1µs|1d|d|.5h|1y1y|+1d|1dd|9999999y|1.d
1.2.3|v1.2.3-rc.1+b|1.2|1.02.3|1.2.3-01|1.2.3-a.b.10|1.2.3-a.b.9|1.0.0-|1.0.0+|99999999999999999999.0.0|1.2.3-alpha|1.2.3-99999999999999999999
10.0.0.0/8|10.1.2.3|192.168.1.0/24|192.168.1.1/33|::1|fe80::/10|2001:db8::/32|::ffff:1.2.3.4|::ffff:1.2.3.0/120|0.0.0.0/0|::/0|1.2.3.4/|/8|10.0.1.0/24|10.0.0.0/24|fe80::1%eth0|255.255.255.0/24|10.0.0.128/28|0.0.0.1/32|2001:db8::1/127|1.2.3.4/08
http://user:pw@host:80/p%20a?q=1#f|//h/p|mailto:x|:|http://[::1]:9/|%|/only/path?x|http://a b/|HTTP://H
inf|-Infinity|NaN|+1|0x10|01|-0|1e5|1.50|٣
`), "\n")

var numbers = strings.Fields(`0 1 -1 2 3 5 7 8 10 16 20 -3 1.0 2.50 0.5 -0.5 1.5 -1.5 2.7 1e2 1.5e3 1e30 1e-5 1E+2 -0 0.0 -0.0
	2147483647 2147483648 -2147483649 9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551617
	123456789012345678901234567890 123456789012345678901234567890.123 0.1 0.30000000000000004 1e300 100000000000 1577934245000000000
	1577934245123456789 -62135596800000000000 1609459200000000000 99 1000 1024`)

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func (g generator) text() string {
	switch g.IntN(12) {
	case 0, 1, 2:
		return pick(g, g.given)
	case 3:
		return pick(g, g.given) + g.text()
	case 4:
		return strings.Repeat(pick(g, []string{"a", "ab", "ä", "x."}), g.IntN(30))
	case 5:
		s := g.text()
		if s == "" {
			return s
		}
		at := g.IntN(len(s))
		return s[:at] + string(rune(g.IntN(300))) + s[at:]
	}
	return pick(g, strings.Split(pick(g, texts), "|"))
}

func (g generator) number() ast.Value {
	if g.IntN(3) == 0 {
		return ast.Number(fmt.Sprint(g.IntN(21) - 5))
	}
	return ast.Number(pick(g, numbers))
}

// list makes up to n values.
func (g generator) list(n int, one func() ast.Value) []*ast.Term {
	terms := make([]*ast.Term, g.IntN(n+1))
	for i := range terms {
		terms[i] = ast.NewTerm(one())
	}
	return terms
}

// put adds a key that is not there yet. Put in twice, keys of one hash get lost
// in OPA's objects.
func put(o ast.Object, key, v ast.Value) {
	if k := ast.NewTerm(key); o.Get(k) == nil {
		o.Insert(k, ast.NewTerm(v))
	}
}

func (g generator) object(key, v func() ast.Value) ast.Value {
	o := ast.NewObject()
	for range g.IntN(4) {
		put(o, key(), v())
	}
	return o
}

// any makes a value of any type.
func (g generator) any(depth int) ast.Value {
	one := func() ast.Value { return g.any(depth - 1) }
	n := 9
	if depth <= 0 {
		n = 5
	}
	switch g.IntN(n) {
	case 0:
		return ast.NullValue
	case 1:
		return ast.Boolean(g.IntN(2) == 0)
	case 2:
		return g.number()
	case 3, 4:
		return ast.String(g.text())
	case 5, 6:
		return ast.NewArray(g.list(4, one)...)
	case 7:
		return ast.NewSet(g.list(4, one)...)
	}
	return g.object(func() ast.Value {
		if g.IntN(4) == 0 {
			return one()
		}
		return ast.String(pick(g, []string{"a", "b", "c", "0", "path", "op"}))
	}, one)
}

// of makes a value of a type.
func (g generator) of(tpe types.Type) ast.Value {
	if g.IntN(12) == 0 {
		return g.any(2)
	}
	switch tpe := tpe.(type) {
	case *types.NamedType:
		return g.of(tpe.Type)
	case types.String:
		return ast.String(g.text())
	case types.Number:
		return g.number()
	case types.Boolean:
		return ast.Boolean(g.IntN(2) == 0)
	case types.Null:
		return ast.NullValue
	case types.Any:
		if len(tpe) == 0 {
			return g.any(3)
		}
		return g.of(pick(g, tpe))
	case *types.Set:
		return ast.NewSet(g.list(5, func() ast.Value { return g.of(tpe.Of()) })...)
	case *types.Array:
		if tpe.Len() > 0 {
			terms := make([]*ast.Term, tpe.Len())
			for i := range terms {
				terms[i] = ast.NewTerm(g.of(tpe.Select(i)))
			}
			return ast.NewArray(terms...)
		}
		return ast.NewArray(g.list(5, func() ast.Value { return g.of(tpe.Dynamic()) })...)
	case *types.Object:
		o := ast.NewObject()
		for _, p := range tpe.StaticProperties() {
			if g.IntN(4) > 0 {
				o.Insert(ast.NewTerm(ast.MustInterfaceToValue(p.Key)), ast.NewTerm(g.of(p.Value)))
			}
		}
		if d := tpe.DynamicProperties(); d != nil {
			for range g.IntN(4) {
				put(o, g.of(d.Key), g.of(d.Value))
			}
		}
		return o
	}
	return g.any(3)
}

// patch makes operations on documents of [generator.any].
func (g generator) patch() ast.Value {
	path := func() ast.Value {
		if g.IntN(3) == 0 {
			return ast.NewArray(g.list(3, func() ast.Value { return g.any(1) })...)
		}
		parts := make([]string, g.IntN(4))
		for i := range parts {
			parts[i] = pick(g, []string{"a", "b", "c", "0", "1", "2", "-", "01", "~0", "~1"})
		}
		return ast.String(strings.Join(append([]string{""}, parts...), "/"))
	}
	return ast.NewArray(g.list(4, func() ast.Value {
		return ast.NewObject(
			[2]*ast.Term{ast.StringTerm("op"), ast.StringTerm(pick(g, []string{"add", "remove", "replace", "move", "copy", "test"}))},
			[2]*ast.Term{ast.StringTerm("path"), ast.NewTerm(path())},
			[2]*ast.Term{ast.StringTerm("from"), ast.NewTerm(path())},
			[2]*ast.Term{ast.StringTerm("value"), ast.NewTerm(g.any(2))},
		)
	})...)
}

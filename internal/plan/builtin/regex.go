package builtin

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"

	"gate/internal/plan/value"
)

// compileCost is how many steps it takes to compile a byte of a pattern.
const compileCost = 8

// matchCost estimates the steps of one pass through a text: few for each byte, as
// a rule, and at worst all states of the pattern. Counted repetitions have many.
func matchCost(ctx *Context, pattern, s string) int {
	states := 1 + len(pattern)/16
	if strings.Contains(pattern, "{") {
		counted, _ := ctx.Cached("states", pattern, func() (any, error) {
			parsed, err := syntax.Parse(pattern, syntax.Perl)
			if err != nil { // a glob, where it is an alternative
				return 64, nil
			}
			return repeated(parsed), nil
		})
		states += counted.(int)
	}
	return states * min(len(s), math.MaxInt/states)
}

// repeated counts the states of a pattern with its repetitions written out.
func repeated(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n += repeated(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, math.MaxInt32)
}

// compiled returns a pattern of RE2, whose matching takes time linear in the
// text and in the pattern.
func compiled(ctx *Context, pattern string) (*regexp.Regexp, error) {
	if err := ctx.Spend(compileCost * len(pattern)); err != nil {
		return nil, err
	}
	re, err := ctx.Cached("regex", pattern, func() (any, error) { return regexp.Compile(pattern) })
	if err != nil {
		return nil, err
	}
	return re.(*regexp.Regexp), nil
}

// search reads a pattern and a text, and takes the work of one pass through the
// text. Where it is certain that there is no match, the pattern is nil.
func search(ctx *Context, args []value.Value, pattern, in int) (*regexp.Regexp, string, error) {
	p, err := text(args, pattern)
	if err != nil {
		return nil, "", err
	}
	s, err := text(args, in)
	if err != nil {
		return nil, "", err
	}
	if len(s) <= maxPrepared {
		may, err := ctx.mayMatch(ctx.prepared(p, false), s)
		if err != nil || !may {
			return nil, s, err
		}
	}
	re, err := compiled(ctx, p)
	if err != nil {
		return nil, "", err
	}
	return re, s, ctx.Spend(matchCost(ctx, p, s))
}

func regexIsValid(_ *Context, args []value.Value) (value.Value, error) {
	pattern, err := text(args, 0)
	if err == nil {
		_, err = syntax.Parse(pattern, syntax.Perl)
	}
	return value.Bool(err == nil), nil
}

func regexMatch(ctx *Context, args []value.Value) (value.Value, error) {
	var p, s string
	if err := texts(args, &p, &s); err != nil {
		return nil, err
	}
	if matches, known, err := ctx.match(ctx.prepared(p, false), s, nil); known || err != nil {
		return value.Bool(matches), err
	}
	re, s, err := search(ctx, args, 0, 1)
	if err != nil {
		return nil, err
	}
	return value.Bool(re.MatchString(s)), nil
}

func regexSplit(ctx *Context, args []value.Value) (value.Value, error) {
	re, s, err := search(ctx, args, 0, 1)
	if err != nil {
		return nil, err
	}
	if err := boundPieces(ctx, s, len(s)/4); err != nil {
		return nil, err
	}
	if re == nil {
		return stringArray([]string{s}), nil
	}
	return stringArray(re.Split(s, -1)), nil
}

func regexFind(ctx *Context, args []value.Value) (value.Value, error) {
	re, s, n, err := searchN(ctx, args)
	if err != nil || re == nil {
		return stringArray(nil), err
	}
	return stringArray(re.FindAllString(s, n)), nil
}

func regexFindSubmatches(ctx *Context, args []value.Value) (value.Value, error) {
	re, s, n, err := searchN(ctx, args)
	if err != nil || re == nil {
		return stringArray(nil), err
	}
	found := &value.Array{}
	for _, match := range re.FindAllStringSubmatch(s, n) {
		found.Append(stringArray(match))
	}
	return found, nil
}

// searchN reads what regex.find_n gets. The groups of one match may each hold
// the whole text again, but share its bytes.
func searchN(ctx *Context, args []value.Value) (re *regexp.Regexp, s string, n int, err error) {
	for i := range 2 {
		if _, err := text(args, i); err != nil {
			return nil, "", 0, err
		}
	}
	if n, err = integer(args, 2); err != nil {
		return nil, "", 0, err
	}
	if re, s, err = search(ctx, args, 0, 1); err != nil {
		return nil, "", 0, err
	}
	if re != nil && (1+re.NumSubexp())*len(s) > MaxText {
		return nil, "", 0, boundText(ctx, MaxText+1)
	}
	return re, s, n, boundPieces(ctx, s, len(s)/4)
}

func regexReplace(ctx *Context, args []value.Value) (value.Value, error) {
	var s, pattern, to string
	if err := texts(args, &s, &pattern, &to); err != nil {
		return nil, err
	}
	re, s, err := search(ctx, args, 1, 0)
	if err != nil {
		return nil, err
	}
	if len(to) > MaxReplacement {
		return nil, fmt.Errorf("the replacement is longer than %d bytes", MaxReplacement)
	}
	if re == nil {
		return value.String(s), nil
	}
	if (1+re.NumSubexp())*len(s) > MaxText {
		return nil, boundText(ctx, MaxText+1)
	}
	if err := boundPieces(ctx, s, 0); err != nil {
		return nil, err
	}
	var out []byte
	from := 0
	for _, match := range re.FindAllStringSubmatchIndex(s, -1) {
		out = append(out, s[from:match[0]]...)
		out = re.ExpandString(out, to, s, match)
		from = match[1]
		if len(out) > MaxText {
			return nil, boundText(ctx, len(out))
		}
	}
	if err := boundText(ctx, len(out)); err != nil {
		return nil, err
	}
	return value.String(append(out, s[from:]...)), nil
}

// templateMatch matches a text that has patterns between delimiters. All else
// stands for itself.
func templateMatch(ctx *Context, args []value.Value) (value.Value, error) {
	var template, s, open, end string
	if err := texts(args, &template, &s, &open, &end); err != nil {
		return nil, err
	}
	if len(open) != 1 {
		return nil, fmt.Errorf("start delimiter has to be exactly one character long but is %d long", len(open))
	}
	if len(end) != 1 {
		return nil, fmt.Errorf("end delimiter has to be exactly one character long but is %d long", len(open))
	}
	if err := ctx.Spend(compileCost*len(template) + matchCost(ctx, template, s)); err != nil {
		return nil, err
	}
	pattern, err := fromTemplate(template, open[0], end[0])
	if err != nil {
		return nil, err
	}
	re, err := compiled(ctx, pattern)
	if err != nil {
		return nil, err
	}
	return value.Bool(re.MatchString(s)), nil
}

// fromTemplate makes a pattern for the whole text. Delimiters may be nested.
func fromTemplate(template string, open, end byte) (string, error) {
	var pattern strings.Builder
	pattern.WriteByte('^')
	unbalanced := fmt.Errorf("unbalanced braces in %q", template)
	level, from := 0, 0 // where what is outside, or inside, begins
	for i := range len(template) {
		switch template[i] {
		case open:
			if level++; level == 1 {
				pattern.WriteString(regexp.QuoteMeta(template[from:i]))
				from = i + 1
			}
		case end:
			switch level--; {
			case level < 0:
				return "", unbalanced
			case level == 0:
				inside := template[from:i]
				if _, err := regexp.Compile("^" + inside + "$"); err != nil {
					return "", err
				}
				pattern.WriteString("(" + inside + ")")
				from = i + 1
			}
		}
	}
	if level != 0 {
		return "", unbalanced
	}
	return pattern.String() + regexp.QuoteMeta(template[from:]) + "$", nil
}

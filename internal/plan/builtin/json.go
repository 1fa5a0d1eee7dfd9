package builtin

import (
	"bytes"
	"encoding/json"
	"strings"

	"gate/internal/plan/value"
)

func jsonMarshal(ctx *Context, args []value.Value) (value.Value, error) {
	if err := boundEncoding(ctx, args[0], 6); err != nil {
		return nil, err
	}
	return value.String(value.AppendJSON(nil, args[0])), nil
}

func jsonMarshalWithOptions(ctx *Context, args []value.Value) (value.Value, error) {
	options, err := object(args, 1)
	if err != nil {
		return nil, err
	}
	style, err := styleOf(options)
	if err != nil {
		return nil, err
	}
	if err := boundEncoding(ctx, args[0], 6); err != nil {
		return nil, err
	}
	compact := value.AppendJSON(nil, args[0])
	if !style.pretty {
		return value.String(compact), nil
	}
	if err := boundText(ctx, style.size(compact)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(style.prefix) // Indent leaves it out of the first line
	if err := json.Indent(&out, compact, style.prefix, style.indent); err != nil {
		return nil, err
	}
	return value.String(out.String()), nil
}

// A style is how JSON is laid out.
type style struct {
	prefix, indent string
	pretty         bool
}

// styleOf reads the options of json.marshal_with_options. A prefix or an indent
// asks for lines, unless pretty says otherwise.
func styleOf(options *value.Object) (style, error) {
	s := style{indent: "\t"}
	implied, said := false, false
	for at, p := range options.Pairs() {
		key, ok := p.Key.(value.String)
		if !ok {
			return s, operandError(2, "failed to stringify key %s at index %d: %v", value.Text(p.Key), at, Operand(at, p.Key, "string"))
		}
		switch key {
		case "prefix", "indent":
			text, ok := p.Value.(value.String)
			if !ok {
				return s, operandError(2, "key %q failed cast to string: %v", string(key), Operand(at, p.Value, "string"))
			}
			implied = true
			if key == "prefix" {
				s.prefix = string(text)
			} else {
				s.indent = string(text)
			}
		case "pretty":
			pretty, ok := p.Value.(value.Bool)
			if !ok {
				return s, operandError(2, "key %q failed cast to bool", string(key))
			}
			s.pretty, said = bool(pretty), true
		default:
			return s, operandError(2, "object contained unknown key %q", string(key))
		}
	}
	if !said {
		s.pretty = implied
	}
	return s, nil
}

// size returns how long compact JSON gets at most.
func (s style) size(compact []byte) int {
	n, depth, quoted := len(compact)+len(s.prefix), 0, false
	for i := 0; i < len(compact) && n <= MaxText; i++ {
		switch c := compact[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			n += 1 + len(s.prefix) + depth*len(s.indent)
		case c == '}' || c == ']':
			depth--
			n += 1 + len(s.prefix) + depth*len(s.indent)
		case c == ',' || c == ':':
			n += 1 + len(s.prefix) + depth*len(s.indent)
		}
	}
	return n
}

func jsonUnmarshal(ctx *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundPieces(ctx, s, strings.Count(s, ",")+strings.Count(s, "[")+2*strings.Count(s, ":")); err != nil {
		return nil, err
	}
	return value.ParseJSON(s)
}

func jsonIsValid(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	return value.Bool(err == nil && json.Valid([]byte(s))), nil
}

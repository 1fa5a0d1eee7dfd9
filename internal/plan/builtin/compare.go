package builtin

import "gate/internal/plan/value"

func equal(_ *Context, args []value.Value) (value.Value, error) {
	return value.Bool(value.Equal(args[0], args[1])), nil
}

func notEqual(_ *Context, args []value.Value) (value.Value, error) {
	return value.Bool(!value.Equal(args[0], args[1])), nil
}

func less(_ *Context, args []value.Value) (value.Value, error) {
	return value.Bool(value.Compare(args[0], args[1]) < 0), nil
}

func lessEqual(_ *Context, args []value.Value) (value.Value, error) {
	return value.Bool(value.Compare(args[0], args[1]) <= 0), nil
}

func greater(_ *Context, args []value.Value) (value.Value, error) {
	return value.Bool(value.Compare(args[0], args[1]) > 0), nil
}

func greaterEqual(_ *Context, args []value.Value) (value.Value, error) {
	return value.Bool(value.Compare(args[0], args[1]) >= 0), nil
}

// hasMember is x in xs.
func hasMember(_ *Context, args []value.Value) (value.Value, error) {
	switch in := args[1].(type) {
	case *value.Set:
		return value.Bool(in.Has(args[0])), nil
	case *value.Array:
		for _, e := range in.Elems() {
			if value.Equal(args[0], e) {
				return value.Bool(true), nil
			}
		}
	case *value.Object:
		for _, p := range in.Pairs() {
			if value.Equal(args[0], p.Value) {
				return value.Bool(true), nil
			}
		}
	}
	return value.Bool(false), nil
}

// hasMemberAt is k, x in xs.
func hasMemberAt(_ *Context, args []value.Value) (value.Value, error) {
	found := member(args[2], args[0])
	return value.Bool(found != nil && value.Equal(found, args[1])), nil
}

func isNull(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindNull)
}

func isBoolean(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindBool)
}

func isNumber(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindNumber)
}

func isString(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindString)
}

func isArray(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindArray)
}

func isObject(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindObject)
}

func isSet(_ *Context, args []value.Value) (value.Value, error) {
	return isKind(args, value.KindSet)
}

func isKind(args []value.Value, kind value.Kind) (value.Value, error) {
	return value.Bool(value.KindOf(args[0]) == kind), nil
}

func typeName(_ *Context, args []value.Value) (value.Value, error) {
	return value.String(value.KindOf(args[0]).String()), nil
}

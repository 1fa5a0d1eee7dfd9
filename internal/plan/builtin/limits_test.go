package builtin_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gate/internal/plan/builtin"
	"gate/internal/plan/value"
)

// repeat returns an array of n times v, which takes the memory of one.
func repeat(n int, v value.Value) value.Value {
	list := make([]value.Value, n)
	for i := range list {
		list[i] = v
	}
	return value.NewArray(list...)
}

// TestLimits calls builtins with little that asks for much. Each must end in an
// error, and not make much before, garbage included.
func TestLimits(t *testing.T) {
	long := value.String(strings.Repeat("a", 1<<20))
	unclear := "%\xff%999999s" // a verb that is no character hides none behind it
	const allowed = 64 << 20
	for _, c := range []struct {
		name string
		args []value.Value
	}{
		{"array.concat", []value.Value{repeat(1<<20, value.Int(1)), repeat(1<<20, value.Int(1))}},
		{"array.flatten", []value.Value{repeat(1<<10, repeat(1<<12, value.Int(1)))}},
		{"concat", []value.Value{long, repeat(100, value.String("x"))}},
		{"json.marshal", []value.Value{repeat(100, long)}},
		{"json.marshal_with_options", []value.Value{repeat(1000, value.Int(1)), value.NewObject(value.Pair{Key: value.String("indent"), Value: long})}},
		{"mul", []value.Value{value.Decimal("1e20000"), value.Decimal("1e20000")}},
		{"numbers.range", []value.Value{value.Int(0), value.Int(1e18)}},
		{"numbers.range_step", []value.Value{value.Int(0), value.Decimal("1e300"), value.Int(1)}},
		{"product", []value.Value{repeat(10_000, value.Decimal(strings.Repeat("9", 9_000)))}},
		{"regex.find_n", []value.Value{value.String(strings.Repeat("()", 500)), long, value.Int(-1)}},
		{"regex.match", []value.Value{value.String("(a?){1000}b"), value.String(strings.Repeat("a", 20<<20))}},
		{"regex.replace", []value.Value{long, value.String(""), value.String(strings.Repeat("b", 1000))}},
		{"regex.split", []value.Value{value.String(""), value.String(strings.Repeat("a", 5<<20))}},
		{"replace", []value.Value{long, value.String("a"), long}},
		{"split", []value.Value{value.String(strings.Repeat(",", 4<<20)), value.String(",")}},
		{"sprintf", []value.Value{value.String(strings.Repeat("%0999999d", 100)), value.NewArray(value.Int(1))}},
		{"sprintf", []value.Value{value.String(strings.Repeat(unclear, 100)), repeat(200, value.String("a"))}},
		{"strings.replace_n", []value.Value{value.NewObject(value.Pair{Key: value.String("a"), Value: long}), long}},
		{"walk", []value.Value{nested(3000)}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx := &builtin.Context{Limited: true, Steps: 2_000_000, Memory: allowed}
		_, err := builtin.Lookup(c.name)(ctx, c.args)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", c.name)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 10*allowed {
			t.Errorf("%s made %d MiB: %v", c.name, made>>20, err)
		}
	}
}

// nested returns arrays within arrays.
func nested(depth int) value.Value {
	v := value.NewArray()
	for range depth {
		v = value.NewArray(v)
	}
	return v
}

// TestGlobsEnd gives globs that send a matcher back again and again; each step
// more would multiply the time.
func TestGlobsEnd(t *testing.T) {
	pattern := strings.Repeat("{*a,*a}", 12) + "c*"
	v, err := builtin.Lookup("glob.match")(&builtin.Context{},
		[]value.Value{value.String(pattern), value.Null{}, value.String(strings.Repeat("a", 1000))})
	if err != nil || v != value.Bool(false) {
		t.Errorf("%v %v", v, err)
	}
}

// TestUnsure holds what is left to OPA while a plan runs: its answers there
// cannot be meant, but they are its answers.
func TestUnsure(t *testing.T) {
	for _, c := range []struct {
		name string
		args string
	}{
		{"json.patch", `[[{"a": 1}, {"a": 2}], [{"op": "remove", "path": "/0"}, {"op": "add", "path": "/0/b", "value": 1}]]`},
		{"to_number", `["1_0"]`},
		{"to_number", `["0x1p4"]`},
	} {
		args, err := value.ParseJSON(c.args)
		if err != nil {
			t.Fatal(err)
		}
		_, err = builtin.Lookup(c.name)(&builtin.Context{}, args.(*value.Array).Elems())
		if halt, ok := errors.AsType[*builtin.Halt](err); !ok || !errors.Is(halt, builtin.ErrUnsure) {
			t.Errorf("%s%s: %v", c.name, c.args, err)
		}
	}
}

func TestNames(t *testing.T) {
	names := builtin.Names()
	for i, name := range names {
		if builtin.Lookup(name) == nil {
			t.Errorf("%s is not found", name)
		}
		if i > 0 && names[i-1] >= name {
			t.Errorf("%s stands after %s", name, names[i-1])
		}
	}
	if builtin.Lookup("http.send") != nil || builtin.Lookup("") != nil {
		t.Error("what is not here is found")
	}
}

// ExampleLookup calls a builtin as the machine does.
func ExampleLookup() {
	concat := builtin.Lookup("concat")
	v, err := concat(&builtin.Context{}, []value.Value{value.String("-"), value.NewArray(value.String("a"), value.String("b"))})
	fmt.Println(value.Text(v), err)
	_, err = concat(&builtin.Context{}, []value.Value{value.Int(1), value.NewArray()})
	fmt.Println(err)
	// Output:
	// "a-b" <nil>
	// operand 1 must be string but got number
}

package rego

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/plan/builtin"
)

// Below managed authority a schema must be a constant of the policy: what it costs to
// check a value is then known before anybody is asked, and whoever reads the policy
// sees what is checked. Not known are those that refer to themselves, or that refer
// so often that little text is a lot of work.

const (
	matchSchema    = "json.match_schema"
	maxSchemaParts = 4096 // with what is referred to, each time
)

// schemaStage returns the compiler stage that looks at schemas. It runs before the
// guards are put in.
func schemaStage() ast.CompilerStageDefinition {
	return ast.CompilerStageDefinition{Name: "ConstantSchemas", MetricName: "constant_schemas", Stage: func(c *ast.Compiler) (err *ast.Error) {
		for _, m := range c.Modules {
			for _, r := range m.Rules {
				ast.WalkExprs(r, func(e *ast.Expr) bool {
					if e.IsCall() && e.Operator().String() == matchSchema {
						err = firstError(err, e.Location, constantSchema(c, r, e.Operand(1)))
					}
					for _, w := range e.With {
						if w.Value.String() == matchSchema {
							err = firstError(err, w.Location, errors.New("it cannot take the place of another function"))
						}
					}
					return err != nil
				})
			}
		}
		return err
	}}
}

func firstError(is *ast.Error, at *ast.Location, err error) *ast.Error {
	if is != nil || err == nil {
		return is
	}
	return ast.NewError(ast.CompileErr, at, "%s: %v", matchSchema, err)
}

// constantSchema reports what is wrong with the schema of a call in a rule.
func constantSchema(c *ast.Compiler, r *ast.Rule, schema *ast.Term) error {
	value := constantOf(c, r, schema)
	if value == nil {
		return errors.New("below managed authority the schema must be a constant: write it in the call, or as a rule of its own")
	}
	if text, ok := value.(ast.String); ok {
		v, err := ast.ValueFromReader(strings.NewReader(string(text)))
		if err != nil {
			return fmt.Errorf("the schema is no JSON: %w", err)
		}
		value = v
	}
	return boundedSchema(value)
}

// constantOf returns the value of a term that is written out, in place, in a variable
// or as a rule with nothing else to it; nil for others.
func constantOf(c *ast.Compiler, r *ast.Rule, t *ast.Term) ast.Value {
	switch v := t.Value.(type) {
	case ast.Var:
		var found []*ast.Term
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			if e.IsEquality() || e.IsAssignment() {
				a, b := e.Operand(0), e.Operand(1)
				if a.Equal(t) {
					found = append(found, b)
				} else if b.Equal(t) {
					found = append(found, a)
				}
			}
			return false
		})
		if len(found) == 1 {
			if _, isVar := found[0].Value.(ast.Var); !isVar {
				return constantOf(c, r, found[0])
			}
		}
		return nil
	case ast.Ref:
		rules := c.GetRulesExact(v)
		if len(rules) != 1 {
			return nil
		}
		of := rules[0]
		_, isRef := of.Head.Value.Value.(ast.Ref)
		if len(of.Head.Args) > 0 || of.Else != nil || of.Head.Key != nil || isRef || !of.Body.Equal(ast.NewBody(ast.NewExpr(ast.BooleanTerm(true)))) {
			return nil
		}
		if replaced(c, v) {
			return nil
		}
		t = of.Head.Value
	}
	if _, err := ast.JSON(t.Value); err != nil {
		return nil
	}
	return t.Value
}

// replaced reports that a with gives a rule another value somewhere, or the package that
// it stands in.
func replaced(c *ast.Compiler, rule ast.Ref) (is bool) {
	for _, m := range c.Modules {
		ast.WalkWiths(m, func(w *ast.With) bool {
			target, ok := w.Target.Value.(ast.Ref)
			is = is || ok && rule.HasPrefix(target)
			return is
		})
	}
	return is
}

// boundedSchema reports a schema whose work cannot be told from its text, or that
// would open files or ask the network.
func boundedSchema(schema ast.Value) error {
	if err := refsWithin(schema); err != nil {
		return err
	}
	w := schemaWalk{root: schema}
	return w.part(schema, nil)
}

// A schemaWalk follows a schema and what it refers to.
type schemaWalk struct {
	root  ast.Value
	parts int
}

var (
	errSchemaItself = errors.New("the schema refers to itself; below managed authority it may not")
	errSchemaParts  = fmt.Errorf("the schema has more than %d parts, with those that it refers to", maxSchemaParts)
)

func (w *schemaWalk) part(v ast.Value, behind []string) (err error) {
	if w.parts++; w.parts > maxSchemaParts {
		return errSchemaParts
	}
	each := func(t *ast.Term) bool {
		err = w.part(t.Value, behind)
		return err != nil
	}
	switch v := v.(type) {
	case *ast.Array:
		v.Until(each)
	case ast.Object:
		v.Until(func(k, val *ast.Term) bool {
			text, isText := val.Value.(ast.String)
			if !isText || !k.Equal(ast.StringTerm("$ref")) {
				return each(val)
			}
			err = w.refer(string(text), behind)
			return err != nil
		})
	}
	return err
}

// refer follows a reference, #/a/b.
func (w *schemaWalk) refer(to string, behind []string) error {
	for _, b := range behind {
		if b == to {
			return errSchemaItself
		}
	}
	path, ok := strings.CutPrefix(to, "#/")
	if !ok {
		return errSchemaItself // "#" is all of it, and other names may be anything
	}
	at := w.root
	for key := range strings.SplitSeq(path, "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		object, isObject := at.(ast.Object)
		if !isObject {
			return fmt.Errorf("the schema refers to %s, where there is none", to)
		}
		next := object.Get(ast.StringTerm(key))
		if next == nil {
			return fmt.Errorf("the schema refers to %s, where there is none", to)
		}
		at = next.Value
	}
	return w.part(at, append(behind[:len(behind):len(behind)], to))
}

// checkMatch is checkSchema below managed authority.
func checkMatch(operands []*ast.Term) error {
	if textSize(operands[0].Value, builtin.MaxScan) > builtin.MaxScan {
		return fmt.Errorf("the value is larger than %d MiB", builtin.MaxScan>>20)
	}
	return checkSchema(operands)
}

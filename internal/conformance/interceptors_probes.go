package conformance

import (
	"context"
	"errors"
	"fmt"
)

// InterceptorProbes asks a host what the fixtures leave out: what is no invocation is an error
// with the code of the standard, and what is one has a result of its type.
func InterceptorProbes(ctx context.Context, h Host) []Finding {
	c := &chain{host: h}
	listed, err := c.ask(ctx, "interceptors/list", map[string]any{})
	all, _ := listed["interceptors"].([]any)
	if err == nil && len(all) == 0 {
		err = errors.New("the host offers no interceptors")
	}
	list := []Finding{finding("list", "interceptors/list", err)}
	if err != nil {
		return list
	}
	first, _ := all[0].(map[string]any)
	call := map[string]any{"name": "echo", "arguments": map[string]any{"note": "hi"}}
	with := func(change map[string]any) map[string]any {
		params := map[string]any{"name": first["name"], "event": "tools/call", "phase": "request", "payload": call}
		for name, v := range change {
			params[name] = v
			if v == nil {
				delete(params, name)
			}
		}
		return params
	}
	for _, row := range []struct {
		id, method string
		params     map[string]any
		code       string
	}{
		{"no-method", "interceptor/list", map[string]any{}, "-32601"},
		{"dropped-method", "interceptor/executeChain", map[string]any{}, "-32601"},
		{"no-name", "interceptor/invoke", with(map[string]any{"name": nil}), "-32602"},
		{"no-event", "interceptor/invoke", with(map[string]any{"event": nil}), "-32602"},
		{"no-phase", "interceptor/invoke", with(map[string]any{"phase": nil}), "-32602"},
		{"no-payload", "interceptor/invoke", with(map[string]any{"payload": nil}), "-32602"},
		{"phase-both", "interceptor/invoke", with(map[string]any{"phase": "both"}), "-32602"},
	} {
		_, err := c.ask(ctx, row.method, row.params)
		var wrong *failure
		if errors.As(err, &wrong) && wrong.code == row.code {
			err = nil
		} else {
			err = fmt.Errorf("error %s is wanted: %v", row.code, err)
		}
		list = append(list, finding(row.id, row.method, err))
	}
	for _, kind := range []string{"validation", "mutation"} {
		for _, i := range hooking(listed, kind, "tools/call", "request") {
			result, err := c.ask(ctx, "interceptor/invoke", with(map[string]any{"name": i["name"]}))
			if err == nil {
				err = shaped(result, i, kind)
			}
			list = append(list, finding("invoke "+text(i, "name"), "a result of "+kind, err))
		}
	}
	return list
}

func finding(id, about string, err error) Finding {
	f := Finding{ID: id, About: about, Outcome: Held}
	if err != nil {
		f.Outcome, f.Why = Differs, err.Error()
	}
	return f
}

// shaped holds a result against its type.
func shaped(result, i map[string]any, kind string) error {
	if result["interceptor"] != i["name"] || result["type"] != kind || result["phase"] != "request" {
		return errors.New("interceptor, type and phase are not those of the invocation")
	}
	name := "valid"
	if kind == "mutation" {
		name = "modified"
		if result["payload"] == nil {
			return errors.New("there is no payload")
		}
	}
	is, ok := result[name].(bool)
	if !ok {
		return fmt.Errorf("%s: true or false is wanted", name)
	}
	if kind == "validation" && is && result["severity"] == "error" {
		return errors.New("a message that is valid has the severity error")
	}
	return nil
}

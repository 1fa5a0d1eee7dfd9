// Command client is a coding agent as small as one can be, for the tests of the kit. It does
// with hooks what a host must, or, with --fault, one thing wrong that has the name of the
// vector that must notice it.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

type client struct {
	fault         string
	trust, person bool
	hooks         map[string][]entry
	in            *bufio.Reader
}

type entry struct {
	Command string
	Timeout int
}

// An answer is what one hook said.
type answer struct {
	Decision, Reason string
	Input            map[string]any
	told             bool
	broken, late     bool
}

type object = map[string]any

func main() {
	c := &client{in: bufio.NewReader(os.Stdin)}
	for i, word := range os.Args[1:] {
		switch word {
		case "--version":
			fmt.Println("client 1.2.3")
			return
		case "--fault":
			c.fault = os.Args[i+2]
		case "--trust":
			c.trust = true
		case "--person":
			c.person = true
		}
	}
	data, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".client", "hooks.json"))
	var doc struct{ Hooks map[string][]entry }
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	c.hooks = doc.Hooks
	if err == nil {
		err = c.session(os.Args[len(os.Args)-1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func (c *client) session(prompt string) error {
	c.tell("event-start", "Start", object{})
	c.tell("event-prompt", "Prompt", object{"prompt": prompt})
	messages := []any{object{"role": "user", "content": prompt}}
	for {
		said, err := ask(messages)
		if err != nil {
			return err
		}
		messages = append(messages, object{"role": "assistant", "content": said})
		var results []any
		for _, v := range said {
			if block := v.(object); block["type"] == "tool_use" {
				results = append(results, object{"type": "tool_result", "tool_use_id": block["id"], "content": c.call(block, len(said) > 1 && len(results) == 0)})
			}
		}
		if results == nil {
			break
		}
		messages = append(messages, object{"role": "user", "content": results})
	}
	c.tell("event-turn", "TurnEnd", object{})
	c.tell("event-end", "End", object{})
	fmt.Println("the end")
	return nil
}

// ask puts the messages to the model.
func ask(messages []any) ([]any, error) {
	body, err := json.Marshal(object{"model": "m", "tools": []any{object{"name": "shell"}}, "messages": messages})
	if err != nil {
		return nil, err
	}
	r, err := http.Post(os.Getenv("MODEL"), "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var doc struct{ Content []any }
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("the model said nothing")
	}
	return doc.Content, nil
}

// tell sends an event that hooks cannot answer.
func (c *client) tell(fault, event string, doc object) {
	if c.fault != fault && c.fault != "silent" {
		for _, e := range c.hooks[event] {
			c.run(e, event, doc)
		}
	}
}

// call decides about a call, runs it, and returns what the model reads.
func (c *client) call(block object, firstOfMany bool) string {
	tool, input := block["name"].(string), block["input"].(object)
	event := object{"tool": tool, "input": input}
	if c.fault == "event-call" {
		delete(event, "input")
	}
	var list []answer
	skip := c.fault == "silent" || c.fault == "deny-write" && tool == "write" || c.fault == "deny-one" && firstOfMany
	for _, e := range c.hooks["BeforeCall"] {
		if !skip {
			list = append(list, c.run(e, "BeforeCall", event))
		}
	}
	d := c.combine(list)
	if d.Decision == "ask" || d.Decision == "" && !c.trust || c.fault == "allow" && d.Decision == "allow" && !c.trust {
		d = c.question(d, fmt.Sprint(input))
	}
	if d.Decision == "deny" {
		if c.fault == "deny-told" || c.fault == "exit-2-told" {
			return "denied"
		}
		return "denied: " + d.Reason
	}
	if d.Input != nil && c.fault != "rewrite" {
		input = d.Input
	}
	text := "written"
	if tool == "shell" {
		out, err := exec.Command("/bin/sh", "-c", input["line"].(string)).CombinedOutput()
		text = fmt.Sprint(string(out), err)
	} else if err := os.WriteFile(input["path"].(string), nil, 0o644); err != nil {
		text = err.Error()
	}
	c.tell("event-result", "AfterCall", object{"tool": tool, "input": input, "output": text})
	return text
}

// combine is what several hooks come to: the strictest of them.
func (c *client) combine(list []answer) (d answer) {
	if len(list) > 1 {
		switch c.fault {
		case "deny-first":
			list = list[len(list)-1:]
		case "deny-last":
			list = list[:1]
		case "deny-and-broken", "deny-and-late":
			if slices.ContainsFunc(list, func(a answer) bool {
				return a.broken && c.fault == "deny-and-broken" || a.late && c.fault == "deny-and-late"
			}) {
				return answer{}
			}
		}
	}
	rank := []string{"", "allow", "ask", "deny"}
	for _, a := range list {
		stricter := slices.Index(rank, a.Decision) > slices.Index(rank, d.Decision)
		switch {
		case d.Decision == "":
		case c.fault == "deny-then-allow" && a.Decision == "allow", c.fault == "ask-and-allow" && a.Decision == "allow" && d.Decision == "ask":
			stricter = true
		case c.fault == "allow-then-deny" && d.Decision == "allow":
			stricter = false
		case c.fault == "deny-and-rewrite" && a.Input != nil:
			stricter = true
		}
		if stricter {
			d = a
		}
	}
	return d
}

// question puts a call to the person.
func (c *client) question(d answer, what string) answer {
	if !c.person || c.fault == "ask-yes" {
		if c.fault == "ask-alone" && d.Decision == "ask" {
			return answer{}
		}
		return answer{Decision: "deny", Reason: "nobody can be asked: " + d.Reason}
	}
	fmt.Printf("may I run %s?\n", what)
	text, err := c.in.ReadString('\n')
	if err != nil || strings.TrimSpace(text) != "yes" && c.fault != "ask-no" {
		return answer{Decision: "deny", Reason: "the person said no"}
	}
	return answer{Decision: "allow", Input: d.Input}
}

// run starts one hook. A hook that gives no whole answer denies.
func (c *client) run(e entry, event string, doc object) answer {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(e.Timeout)*time.Second)
	defer cancel()
	named := object{"hook_event_name": event}
	for k, v := range doc {
		named[k] = v
	}
	text, _ := json.Marshal(named)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "exec "+e.Command)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(text), &out, &errs, 100*time.Millisecond
	err := cmd.Run()
	no := func(vector, why string) answer {
		if c.fault == vector {
			return answer{}
		}
		return answer{Decision: "deny", Reason: why, broken: true}
	}
	var exit *exec.ExitError
	errors.As(err, &exit)
	switch {
	case ctx.Err() != nil:
		a := no("late", "the hook was late")
		a.broken, a.late = false, true
		if c.fault == "deny-and-late" {
			a.Decision = ""
		}
		return a
	case exit != nil && exit.Sys().(syscall.WaitStatus).Signaled():
		return no("killed", "the hook was killed")
	case exit != nil && exit.ExitCode() == 2 && errs.Len() == 0:
		return no("exit-2-silent", "the hook ended with status 2")
	case exit != nil && exit.ExitCode() == 2:
		return no("exit-2", errs.String())
	case exit != nil && exit.ExitCode() >= 126:
		return no("missing", "there is no such hook")
	case exit != nil:
		a := no("exit-1", "the hook failed")
		if c.fault == "deny-and-broken" {
			a.Decision = ""
		}
		return a
	case err != nil:
		return no("", err.Error())
	}
	return c.read(out.Bytes(), no)
}

// read reads what a hook printed.
func (c *client) read(out []byte, no func(vector, why string) answer) answer {
	const some = 1 << 16
	if c.fault == "padded" && len(out) > some {
		out = out[:some]
	}
	if out = bytes.TrimSpace(out); len(out) == 0 || c.fault == "huge" && len(out) > some {
		return answer{}
	}
	var a answer
	if out[0] != '{' {
		return no("text-before", "the hook said what is no JSON")
	}
	in := json.NewDecoder(bytes.NewReader(out))
	if c.fault == "deny-extra" {
		in.DisallowUnknownFields()
	}
	switch err := in.Decode(&a); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return no("malformed", "the hook's answer is cut off")
	case err != nil:
		return answer{}
	}
	if c.fault == "deny" && a.Decision == "deny" {
		return answer{}
	}
	return a
}

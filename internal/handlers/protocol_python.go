package handlers

import (
	_ "embed"
	"strings"

	"gate/hook"
)

// callPython is the program that calls a Python function: it reads the event
// and prints what the function returns.
//
//go:embed callable.py
var callPython string

// notImported is the status with which callPython ends when there is no such
// function. No other program is asked for it.
const notImported = 71

// callable is the Python function that a hook names as module.function.
func callable(h *hook.Hook) string {
	s, _ := h.Config["python"].(string)
	return s
}

// python is how a Python function is called. Modules are those of the hook's
// source and of the interpreter, never what lies where the agent works, and
// nothing is written beside them: a person trusted the source as it is.
func (h *Handlers) python(by *hook.Hook) (path string, argv []string, err error) {
	name := callable(by)
	dot := max(strings.LastIndexByte(name, '.'), 0) // without one nothing is imported, which denies
	path, err = h.search("python3")
	return path, []string{"python3", "-B", "-E", "-c", callPython, h.Dirs[by.Source], name[:dot], strings.TrimPrefix(name[dot:], ".")}, err
}

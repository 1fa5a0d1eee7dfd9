package policycheck

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/internal/spelling"
	"gate/scopes"
)

// configure reads the settings of a place, and their hooks.
func (c *checker) configure(o Options) {
	authorities := []hook.Authority{o.Source.Authority}
	if o.Source.Authority == hook.Project {
		authorities = append(authorities, hook.Local)
	}
	for _, a := range authorities {
		conf := load.Settings(o.Files, "", a)
		c.layers = append(c.layers, conf.Layers...)
		if conf.Source != nil {
			c.faults(conf.Source.Faults)
			c.src.Hooks = append(c.src.Hooks, conf.Source.Hooks...)
			c.src.HookFiles = append(c.src.HookFiles, conf.Source.HookFiles...)
		}
	}
}

// settings reports what the settings of a place say about policies that do not
// exist, or that stand in the same place and are switched off.
func (c *checker) settings(o Options) {
	combined, err := setting.Combine(c.layers...)
	if err != nil {
		c.failure(err)
		return
	}
	sources := append(slices.Clone(o.Others), c.src)
	set, err := scopes.New(sources, combined, scopes.WithBacktracking(backtracking.Compile))
	if err != nil {
		c.failure(err)
		return
	}
	var ids []string
	for _, s := range sources {
		for _, h := range s.Hooks {
			ids = append(ids, h.ID)
		}
	}
	for _, row := range set.Explain() {
		c.setting(row, ids)
	}
}

func (c *checker) setting(row setting.Row, ids []string) {
	f := Finding{Severity: Warning, Rule: "settings"}
	f.File, f.Line = splitPos(row.Pos)
	section, id, _ := strings.Cut(row.Key, ".")
	switch {
	case section == "policies" && row.Counts && fmt.Sprint(row.Value) == string(setting.LevelOff) &&
		slices.ContainsFunc(c.src.Hooks, func(h *hook.Hook) bool { return h.ID == id || strings.HasPrefix(h.ID, id+".") }):
		f.Message = fmt.Sprintf("%s stands in this place and is switched off here", id)
		f.Hint = "remove the policy, or this line"
	case row.Counts || row.Why == "" || strings.HasPrefix(row.Why, "overridden"):
		return
	default:
		f.Message, f.Hint = fmt.Sprintf("%s: %s", row.Key, row.Why), "remove it"
		means := func(known string) bool { return known == id || strings.HasPrefix(known, id+".") }
		if right := spelling.Nearest(id, ids); section == "policies" && right != "" && !slices.ContainsFunc(ids, means) {
			f.Severity, f.Hint = Error, didYouMean(right)
		}
	}
	c.add(f)
}

// asked reports hooks that ask somebody whom no settings name, or run a file of
// their own place that is not there, or any file that may not be executed.
func (c *checker) asked(all scopes.Settings) {
	for _, h := range c.src.Hooks {
		f := Finding{Severity: Warning, Rule: "asked"}
		f.File, f.Line = splitPos(h.Pos())
		if err := all.Asks(h); err != nil {
			f.Message, f.Hint = fmt.Sprintf("%s cannot answer: %v", h.ID, err), "name it in managed or user settings"
			c.add(f)
		} else if why, remedy := setting.Unrunnable(h, c.stat); why != "" {
			f.Message, f.Hint = fmt.Sprintf("%s cannot answer: %s", h.ID, why), remedy
			c.add(f)
		}
	}
}

// doubts reports what was guessed about the files of the place, or can do nothing.
func (c *checker) doubts() {
	for _, note := range c.src.Notes {
		f := Finding{Severity: Warning, Rule: "dialect"}
		pos, text, _ := strings.Cut(note, ": ")
		f.File, f.Line = splitPos(pos)
		if f.Message, f.Hint, _ = strings.Cut(text, "; "); strings.HasPrefix(text, load.ParallelNote) {
			f.Rule = "never"
		}
		c.add(f)
	}
}

// stat looks at a file of the place, or at one elsewhere by its absolute path.
func (c *checker) stat(name string) (fs.FileInfo, error) {
	switch {
	case !filepath.IsAbs(name):
		return fs.Stat(c.files, name)
	case c.elsewhere == nil:
		return nil, fs.ErrInvalid
	}
	return c.elsewhere(name)
}

func splitPos(pos string) (string, int) {
	i := strings.LastIndexByte(pos, ':')
	if i < 0 {
		return pos, 0
	}
	line, err := strconv.Atoi(pos[i+1:])
	if err != nil {
		return pos, 0
	}
	return strings.TrimPrefix(pos[:i], "/"), line
}

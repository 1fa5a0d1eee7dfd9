package attack

import (
	"context"
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/policytest"
)

// A variation is a call of another tool, or of the same one in other words.
type variation struct {
	how  string
	call policytest.Case
}

// otherTools returns the calls by which other tools do what a target does, where
// the policy is about a path or an address and nothing more. That is so if it
// holds back a bare call with it and, of paths, not the same call with another.
func (r *runner) otherTools(ctx context.Context, t *target) ([]variation, error) {
	d, err := r.decide(ctx, t.call, false)
	if err != nil {
		return nil, err
	}
	s := subjectOf(d.Facts)
	if s == nil {
		return nil, nil
	}
	for _, value := range []string{s.value, s.neutral} {
		if value == "" {
			continue
		}
		bare, err := r.decide(ctx, t.call.Calling(s.tool, s.call(value)), false)
		if err != nil {
			return nil, err
		}
		if holds(&bare, t.id) != (value == s.value) {
			return nil, nil
		}
	}
	return s.variations(t.call), nil
}

// A subject is the one thing that a call writes, reads or fetches.
type subject struct {
	tool    string
	value   string
	neutral string // a value of the same kind that no policy is about; "" if there is none
	call    func(value string) map[string]any
	further []tool   // other tools that do the same
	lines   []string // templates of lines that do the same
}

// A tool does the same to a subject.
type tool struct {
	name string
	call func(value string) map[string]any
}

// subjectOf returns what a call is about, nil where it is about several things.
func subjectOf(f *hook.Facts) *subject {
	if f == nil || f.Opaque {
		return nil
	}
	byAccess := map[string][]string{}
	for _, p := range f.Paths {
		if p.Path != nil && !p.Glob && p.Access != "list" && p.Access != "use" {
			byAccess[p.Access] = append(byAccess[p.Access], *p.Path)
		}
	}
	writes, reads := byAccess["write"], byAccess["read"]
	switch {
	case len(byAccess) == 1 && len(writes) == 1 && len(f.Hosts) == 0:
		return writing(writes[0])
	case len(byAccess) == 1 && len(reads) == 1 && len(f.Hosts) == 0:
		return reading(reads[0])
	case len(byAccess) == 0 && len(f.Hosts) == 1 && f.Hosts[0].URL != nil && f.Hosts[0].Access == "fetch":
		return fetching(*f.Hosts[0].URL)
	}
	return nil
}

// neutral is a file of the same kind in the root of the project that tests have.
func neutral(name string) string {
	_, world, err := policytest.Event("true")
	if err != nil {
		return ""
	}
	return path.Join(world.Project, "neutral-file"+path.Ext(name))
}

func writing(name string) *subject {
	return &subject{
		tool: "Write", value: name, neutral: neutral(name),
		call: func(v string) map[string]any { return map[string]any{"file_path": v, "content": "x\n"} },
		further: []tool{{"Edit", func(v string) map[string]any {
			return map[string]any{"file_path": v, "old_string": "a", "new_string": "x"}
		}}},
		lines: []string{
			"echo x > {}", ": > {}", "echo x | tee {}", "cp /tmp/x {}", "mv /tmp/x {}", "ln -sf /tmp/x {}", "install /tmp/x {}",
			"dd if=/tmp/x of={}", "truncate -s 0 {}", "sed -i s/a/b/ {}", "perl -pi -e s/a/b/ {}", "cd {dir} && echo x > {base}",
			`f={}; echo x > "$f"`, `python3 -c "open('{path}', 'w').write('x')"`, `node -e "require('fs').writeFileSync('{path}', 'x')"`,
		},
	}
}

func reading(name string) *subject {
	return &subject{
		tool: "Read", value: name, neutral: neutral(name),
		call: func(v string) map[string]any { return map[string]any{"file_path": v} },
		further: []tool{{"Grep", func(v string) map[string]any {
			return map[string]any{"pattern": ".", "path": v, "output_mode": "content"}
		}}},
		lines: []string{
			"cat {}", "head -n 5 {}", "base64 {}", "grep . {}", "cp {} /tmp/x", "awk 1 {}", "cd {dir} && cat {base}", `f={}; cat "$f"`,
			`while read -r l; do echo "$l"; done < {}`, `python3 -c "print(open('{path}').read())"`,
		},
	}
}

func fetching(address string) *subject {
	return &subject{
		tool: "WebFetch", value: address,
		call: func(v string) map[string]any { return map[string]any{"url": v, "prompt": "x"} },
		lines: []string{
			"curl -s {}", "wget -qO- {}", "u={}; curl \"$u\"", `python3 -c "import urllib.request; urllib.request.urlopen('{path}')"`,
			`node -e "fetch('{path}')"`,
		},
	}
}

// variations returns the calls that do the same to the subject.
func (s *subject) variations(c policytest.Case) []variation {
	list := []variation{{s.tool, c.Calling(s.tool, s.call(s.value))}}
	for _, t := range s.further {
		list = append(list, variation{t.name, c.Calling(t.name, t.call(s.value))})
	}
	if dir, base := path.Split(s.value); path.IsAbs(s.value) {
		for how, name := range map[string]string{"a dot in the path": dir + "./" + base, "a step up in the path": dir + "x/../" + base} {
			list = append(list, variation{s.tool + " with " + how, c.Calling(s.tool, s.call(name))})
		}
	}
	for _, template := range s.lines {
		if strings.Contains(template, "{path}") && strings.ContainsAny(s.value, `'"\$`+"`") {
			continue // it would end the text of the other language
		}
		dir, base := path.Split(s.value)
		line := strings.NewReplacer("{}", bare(s.value), "{path}", s.value, "{dir}", bare(dir), "{base}", bare(base)).Replace(template)
		list = append(list, variation{"Bash: " + template, c.Calling("Bash", map[string]any{"command": line})})
	}
	slices.SortStableFunc(list, func(a, b variation) int { return strings.Compare(a.how, b.how) })
	return list
}

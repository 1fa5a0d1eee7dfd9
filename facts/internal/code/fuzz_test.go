package code

import (
	"strings"
	"testing"
)

// languageNames are the languages that tests go through.
var languageNames = []string{"python", "node", "perl", "ruby", "php", "awk", "lua", "applescript", "r", "tcl"}

func FuzzInspect(f *testing.F) {
	for _, c := range programCases(f, "*.txt") {
		f.Add(c.language, c.text)
	}
	for _, s := range hostileSeeds {
		f.Add("python", strings.Repeat(s, 50))
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		for _, name := range append([]string{language}, languageNames...) {
			check(t, name, text)
		}
		for _, s := range Mongo(text) {
			if s.Verb == "" || s.Access != "read" && s.Access != "write" && s.Access != "delete" {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// check holds what every report must satisfy.
func check(t *testing.T, language, text string) {
	t.Helper()
	r := Inspect(language, text)
	if languageOf(language) == nil && r.Unknown == "" {
		t.Fatalf("no rules for %q, and nothing said", language)
	}
	if len(r.Calls) > maxCalls+1 {
		t.Fatalf("%d calls", len(r.Calls))
	}
	for _, c := range r.Calls {
		if c.Does == "" || c.Name == "" || c.Offset < 0 || c.Offset > len(text) {
			t.Fatalf("%s: %+v", language, c)
		}
	}
}

// hostileSeeds are texts that, repeated, have cost parsers more than linear
// time.
var hostileSeeds = []string{
	"(", "[", "{", ")", "}", "\"", "'", "`", "\\", "/", "/*", "/[", "#{", "${", "`${", "f\"{", "f'{f\"{", "<<A\n", "<<<A\n", "<<~'B'\n", "%w[", "%(", "q(", "s{", "qx{", "m{", "[[", "[=[",
	"\"#{", "\"@{[", "\"$x{", "r\"(", "r\"-(", "$", "$$", "${", "@{", "=begin\n", "=pod\n", "<!--", "<?php", "?>", "--[[", "(*", "x=>", "(x)=>", "=>{", "x=", "x=x+x\n", "a.", "a.b.c.", "x[", "x(", "x{",
	"def f(", "lambda:", "lambda x:", "for x in ", "[x for x in ", "(x for x in [", "function(", "function f(){", "sub {", "map {", "do |x|", "{|x|", "if ", "else", "x if x else ", "import ", "from x import ", "import {a as b} from 'x'\n",
	"eval('", "eval(\"eval(", "exec('x')\n", "system('x')\n", "os.remove('x')\n", "s='a'\n", "s=s+s\n", "s+=s\n", "x=[x,x]\n", "x+=x\n", "'%s'%", "'{}'.format(", "''.join([", "'a'+", "'a'.", "\"a\" ", "a,", "a=b,", "a:", "1+", "-", "--", "!", "?", "?:",
	"{a:", "{\"a\":", "{...", "*", "**", "&", "&&", "||", "??", "|", "|x|", "<", "<x>", "<*>", "\n", ";", "\n ", "\x00", "\xff", "é", "$x->", "$x->{", "$x[", "@x", "%x", "->(", "::", "::x", "x::", "y///", "tr/a", "s/a/b/e", "s/a/system('x')/e;", "__END__\n",
	"print > ", "\"a\" | getline ", "getline < ", "do shell script ", "delete file ", "exec [", "{exec ", "$a(", "if {1} {", "\"[", "x,y=", "a=a||", "a?a:", "cmd.append('x')\n",
	"while(x)", "try{", "class A{", "switch(x){", "case x:", "new ", "await ", "return ", "x.then(x=>",
}

// TestHostile feeds long repetitions of each seed to the languages:
// a quadratic step would keep the test from ending.
func TestHostile(t *testing.T) {
	for i, seed := range hostileSeeds {
		for _, name := range languageNames {
			check(t, name, strings.Repeat(seed, 2048/len(seed)))
		}
		if !testing.Short() {
			check(t, languageNames[i%len(languageNames)], strings.Repeat(seed, (1<<16)/len(seed)))
		}
	}
	for _, seed := range []string{"(", "\"", "f'{", "x=x+x\n", "os.remove('x')\n"} {
		check(t, "python", strings.Repeat(seed, (1<<20)/len(seed)))
	}
}

func BenchmarkInspect(b *testing.B) {
	texts := map[string]string{
		"short":   `import shutil,os; shutil.rmtree(os.path.expanduser("~"))`,
		"plain":   `import json,sys; print(json.dumps(json.load(sys.stdin), indent=2))`,
		"script":  strings.Repeat("import os\nfor f in os.listdir('build'):\n    p = os.path.join('build', f)\n    print(f'removing {p}')\n    os.remove(p)\n", 100),
		"nested":  strings.Repeat("f(", 1<<19),
		"doubled": "s='a'\n" + strings.Repeat("s=s+s\n", 1<<17),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Inspect("python", text)
			}
		})
	}
}

package code

import (
	"strings"

	"gate/internal/wordlist"
)

// endless are the heads of loops that nothing ends, without blanks. "while" with a fork
// behind it goes on as long as that succeeds.
var endless = [...]string{
	"whileTrue", "while1", "while(1)", "while(true)", "while(True)", "whiletrue", "whilefork", "whiledo", "while(fork", "for(;;)", "loop{", "loopdo", "untilfalse",
	"iter(int,1)", "itertools.count()", "itertools.repeat(", "setInterval(",
}

// waits are words of programs that start another process only when something has come or
// ended: servers and supervisors.
const waits = "wait accept recv sleep( select poll communicate input( readline join( break await .run( check_call check_output Sync("

// Multiplies reports a text that starts processes in a loop without an end, and waits
// for none: fork while fork.
func Multiplies(text string) bool {
	if !strings.Contains(text, "ork") && !strings.Contains(text, "Popen(") && !strings.Contains(text, "spawn(") && !strings.Contains(text, "Process(") {
		return false
	}
	if wordlist.Within(text, waits) {
		return false
	}
	plain := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' {
			return -1
		}
		return r
	}, text)
	for _, head := range endless {
		before, body, ok := strings.Cut(plain, head)
		if !ok {
			continue
		}
		for _, start := range []string{"fork", "Popen(", "spawn(", "Process("} {
			if strings.Contains(body, start) || strings.HasSuffix(before, start) || strings.HasSuffix(before, start+"()") || strings.HasSuffix(before, start+"()for_in") || head == "whilefork" {
				return true
			}
		}
	}
	return false
}

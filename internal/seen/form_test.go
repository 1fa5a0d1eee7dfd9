package seen

import (
	"strings"
	"testing"
)

// TestFormsOnce holds that a hostile output costs about as much as its length: the work on
// one part of it makes no more texts than the part is long.
func TestFormsOnce(t *testing.T) {
	for name, text := range map[string]string{
		"cookies in each other": strings.Repeat("sid=q9Zr4Tn8Lw2Xc6Vb", maxClose/20),
		"many columns":          strings.Repeat("card|", maxClose/5),
	} {
		made := testing.AllocsPerRun(1, func() { (&extraction{}).forms(text) })
		if made > 500 {
			t.Errorf("%s: %v texts were made", name, made)
		}
	}
}

// TestForms holds that the limits leave out no table and no cookie of usual size.
func TestForms(t *testing.T) {
	const value = "q9Zr4Tn8Lw2Xc6Vb1Hs7Kd3Fg"
	for name, text := range map[string]string{
		"cookie behind others": "theme=dark&a=b; connect.sid=" + value + "; lang=en",
		"table":                "a,b,password\nx,y," + value + "\n",
		"wide table":           strings.Repeat("c,", 200) + "password\n" + strings.Repeat("1,", 200) + value + "\n",
	} {
		x := extraction{}
		x.forms(text)
		if len(x.values) == 0 {
			t.Errorf("%s: nothing", name)
		}
	}
	for text, want := range map[string]int{
		"server=db\npwd=" + value: 1, "Server=db;Uid=sa;Pwd=" + value + ";": 1,
		"PWD=/srv/" + value: 0, `PWD=C:\\Users\\` + value: 0, "PWD=$HOME/" + value: 0, "cd dir && OLDPWD=releases/current": 0,
	} {
		x := extraction{}
		if x.forms(text); min(len(x.values), 1) != want {
			t.Errorf("%s: %v", text, x.values)
		}
	}
	if !isCard("Credit Card-Number") || isCard(strings.Repeat("card", 20)) {
		t.Error("names of cards")
	}
}

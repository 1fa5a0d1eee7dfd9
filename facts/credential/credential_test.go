package credential_test

import (
	"fmt"
	"testing"

	"gate/facts/credential"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]struct{ promised, variable bool }{
		"GITHUB_TOKEN":  {true, true},
		"db_password":   {true, true},
		"GH_PAT":        {false, true},
		"DEPLOY_KEY":    {true, true},
		"PUBLIC_KEY":    {true, false},
		"DATABASE_URL":  {true, false},
		"PATH":          {false, false},
		"KEYBOARD":      {false, false},
		"TOKENIZER_DIR": {true, true},
		"":              {false, false},
	} {
		if p, v := credential.Promised(name), credential.Variable(name); p != want.promised || v != want.variable {
			t.Errorf("%s: %t, %t", name, p, v)
		}
	}
}

func ExampleInText() {
	for _, text := range []string{"curl -u x:ghp_0123456789abcdef", "ghp_", "a ghp_prefix is short", "-----BEGIN RSA PRIVATE KEY-----"} {
		fmt.Printf("%q\n", credential.InText(text))
	}
	// Output:
	// "login credentials"
	// ""
	// ""
	// "private key"
}

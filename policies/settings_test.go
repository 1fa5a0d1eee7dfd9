package policies_test

import (
	"testing"

	"gate/hook"
)

// TestSettingsFiles reads of files with settings what is printed of them: names, or
// settings that hold no secret. A line that is no setting may be a secret's.
func TestSettingsFiles(t *testing.T) {
	decide := decider(t)
	files := map[string]any{
		"/home/dev/project/.env":               "STRIPE_SECRET_KEY=abc\nSTRIPE_PRICE_PRO=price_1\nMAIL_MAILER=log\nPORT=1\nOWNER=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n",
		"/home/dev/project/pem.env":            "KEY=\"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\"\n",
		"/home/dev/project/terraform.tfvars":   "# values\ndb_password = \"x\"\nregion = \"eu\"\n",
		"/home/dev/project/l/terraform.tfvars": "keys = [\n  \"abcdefgh12345678\",\n]\n",
	}
	for line, want := range map[string]hook.Effect{
		"cut -d= -f1 .env":                                hook.Pass,
		"grep PRICE .env":                                 hook.Pass,
		"grep '^MAIL_MAILER' .env":                        hook.Pass,
		"grep -E '^(PORT|MAIL_MAILER)' .env":              hook.Pass,
		"grep STRIPE .env":                                hook.Ask,
		"grep -i stripe_s .env":                           hook.Ask,
		"grep OWNER .env":                                 hook.Ask,
		"grep '.' .env":                                   hook.Ask,
		"grep -v PRICE .env":                              hook.Ask,
		"grep -A1 PRICE .env":                             hook.Ask,
		"grep -f p PRICE .env":                            hook.Ask,
		"grep NOWHERE .env":                               hook.Ask,
		"grep SECRET .env":                                hook.Ask,
		"cp .env.production .env && grep PRICE .env":      hook.Ask,
		"cut -d= -f1 pem.env":                             hook.Ask,
		"cut -s -d= -f1 pem.env":                          hook.Pass,
		"sed 's/=.*//' pem.env":                           hook.Ask,
		"cut -d= -f1 terraform.tfvars":                    hook.Pass,
		"cut -d= -f2 terraform.tfvars":                    hook.Ask,
		"cut -d= -f1 l/terraform.tfvars":                  hook.Ask,
		"cut -d= -f1 terraform.tfvars l/terraform.tfvars": hook.Ask,
	} {
		if d := decide(map[string]any{"bash": line, "files": files}); d.Effect != want {
			t.Errorf("%s: got %s, want %s: %q", line, d.Effect, want, said(d))
		}
	}
}

package secret_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gate/internal/secret"
)

func TestName(t *testing.T) {
	for name, want := range map[string]secret.Grade{
		"GITHUB_TOKEN": secret.Named, "db_password": secret.Named, "apiKey": secret.Named, "X-Api-Key": secret.Named, "client_secret": secret.Named,
		"DB_PWD": secret.Named, "MYSQL_PWD": secret.Named, "SESSION_COOKIE": secret.Named, "DEPLOY_KEY": secret.Named, "GH_PAT": secret.Named,
		"SMTP_PASS": secret.Named, "PASSPHRASE": secret.Named, "AWS_ACCESS_KEY_ID": secret.Named, "SECRET_KEY_BASE": secret.Named,
		"SLACK_WEBHOOK_URL": secret.Named, "API_TOKENS": secret.Named, "token": secret.Named, "pass": secret.Named,
		"DATABASE_URL": secret.Address, "REDIS_URL": secret.Address, "SENTRY_DSN": secret.Address, "STAGING_DB_URL": secret.Address, "mongodb-uri": secret.Address,
		"SESSION_ID": secret.Masked, "serverKey": secret.Masked,
		"PWD": secret.None, "OLDPWD": secret.None, "OLD_PWD": secret.None, "SECRET_NAME": secret.None, "TOKENIZERS_PARALLELISM": secret.None, "TOKEN_FILE": secret.None,
		"max_tokens": secret.None, "PUBLIC_KEY": secret.None, "issue_key": secret.None, "primary_key": secret.None, "KEYBOARD": secret.None, "PATH": secret.None,
		"COMPASS": secret.None, "API_URL": secret.None, "cookiejar": secret.None, "": secret.None, "é_": secret.None,
	} {
		if got := secret.Name(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if !secret.Variable("deploy_key") || secret.Variable("session_id") || !secret.Promises("session_id") || secret.Promises("database_url") {
		t.Error("what follows from a grade")
	}
}

// TestRego holds the lists of the library's policies, which no Go reaches, to this
// one: names in addresses, and directories of secrets.
func TestRego(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../policies/gate/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	names := regexp.MustCompile("regex\\.match\\(`\\(\\?i\\)\\[\\?&;\\]\\(([^)]*)\\)=").FindStringSubmatch(read("web/fetch/fetch.rego"))
	if names == nil {
		t.Fatal("web/fetch names nothing")
	}
	for name := range strings.SplitSeq(strings.ReplaceAll(names[1], "_?", "_"), "|") {
		if !secret.Promises(name) && name != "pwd" { // a directory, but for in an address
			t.Errorf("web/fetch takes %s for a secret", name)
		}
	}
	dirs := regexp.MustCompile(`"(\.[a-z-]+)[^"]*"`)
	for _, name := range []string{"filesystem/overwrite/overwrite.rego", "filesystem/permissions/permissions.rego", "filesystem/delete/delete.rego"} {
		_, list, found := strings.Cut(read(name), `some dir in [".ssh"`)
		list, _, _ = strings.Cut(list, "]")
		if !found {
			t.Errorf("%s lists no directory of secrets", name)
		}
		for _, dir := range dirs.FindAllStringSubmatch(list, -1) {
			if !strings.Contains(" "+secret.Directories+" ", " "+dir[1]+" ") && !strings.Contains(secret.Files, "~/"+dir[1]+" ") {
				t.Errorf("%s: %s", name, dir[1])
			}
		}
	}
}

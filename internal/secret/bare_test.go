package secret_test

import (
	"strings"
	"testing"

	"gate/internal/secret"
)

func TestBare(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "PORT=3000\nNODE_ENV=development\n", "use flake\ndotenv_if_exists\n", "source_up\nPATH_add bin\nlayout python3\nwatch_file flake.lock\n",
		"API_BASE=http://localhost:8080\nVITE_TITLE=Dash dev\n", "PORT=4000\nLOG_LEVEL=debug\nFEATURE_BETA=false\n", "# Database settings\nDB_HOST=db\nDB_NAME=\"app_dev\"\n",
		"export DATABASE_URL=postgres://localhost/fleet\n", "AMQP_URL=amqp://guest:guest@rabbit:5672/\n", "DB_URL=mysql://root:root@db/fermata\n",
		"DATABASE_URL=postgres://postgres:postgres@127.0.0.1:5432/app_test\r\n", "API_TOKEN=\nSTRIPE_KEY=''\n", "API_URL=https://api.staging.example.com/v2\nAWS_REGION=eu-central-1\nAPP_DEBUG=1\n",
	} {
		if !secret.Bare(text) {
			t.Errorf("%q is in doubt", text)
		}
	}
}

// TestNotBare holds that a doubt keeps a file a secret.
func TestNotBare(t *testing.T) {
	for _, line := range []string{
		"DATABASE_URL=postgres://app:ox9yimTcfipZGn@localhost:5432/app_dev", "DATABASE_URL=postgres://app:app@db.prod.example.com/app", "DATABASE_URL=postgres://app:swordfish@localhost/app",
		"STRIPE_SECRET_KEY=sk_test_51zPbDFDyFKm51zfFoWbSrHAE56yUhQqg0eyN1ygQd", "SESSION_SECRET=2293123b4f42604ac39bab0f61155ade", "API_TOKEN=changeme", "E2E_PASSWORD=correct-horse-test",
		"EMAIL_HOST_PASSWORD=letmein", "DB_PASS=winter", "PIN=1234", "LDAP_BIND_PW=winter", "FOO=FHJcNoaDmgXBb0t", "FOO=winter", "FOO=4711", "ADMIN=letmein", "FOO_NAME=Harbor.walnut6809x",
		"FOO_NAME=oX!*3GE8+D7vEIsVGie", "POSTMARK_HOST=5a631155-a97f-3244-7a6d-554e1e9ddbfb", "# old: API_TOKEN=tr0ub4dor", "# swordfish", "# db: swordfish", "PORT=1 # pw: walnut6809x", "PORT=1 #swordfish",
		"SENTRY_URL=https://ad545ddd9a50eee8f55b85d40c1f88b4@o44.ingest.sentry.io/12", "DSN=https://short@o44.ingest.sentry.io/12", "REDIS_URL=redis://:m0Vq1d9S@10.4.0.8:6379/0", "REDIS_URL=redis://:test@redis/0",
		"ALERT_URL=https://hooks.slack.com/services/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", "ALERT_URL=https://ntfy.sh/swordfish", "ALERT_URL=https://x1y2z3w4.ngrok.io", "WEBHOOK_URL=https://a.example",
		"A=\"begins", `A=b\`, "-----BEGIN PRIVATE KEY-----", "API_URL=https://x.example/?api_key=swordfish", "API_URL=https://x.example/#swordfish", "A=1 B_TOKEN=swordfish", "PORT=1;TOKEN=a", "A_NAME=\x00", "\xff\xfe",
		"\ufeffPORT=1", "sshpass -p swordfish ssh x", "export AWS_KEY", "use swordfish", "layout swordfish", "PATH_add swordfish", "db_name=app", "machine api.example login me password swordfish", "DB_PASSWORD: swordfish1",
		"swordfish", "PSW_NAME=winter", "MY_PSK_NAME=winter", "SENHA_NAME=x", "CLAVE_BASE=x", "MDP_NAME=x", "PORT=1234567", "APP_NAME=$X", "APP_NAME=${SECRET}", "APP_NAME=$(cat x)", "APP_NAME=a b c d e", "APP_NAME='", "=a", "é=1",
	} {
		if secret.Bare("PORT=3000\n" + line + "\n") {
			t.Errorf("%q is none", line)
		}
	}
	for _, text := range []string{strings.Repeat("PORT=1\n", 5000), "APP_NAME=" + strings.Repeat("a ", 200), strings.Repeat("x=", 8000)} {
		if secret.Bare(text) {
			t.Error("more than a file of settings has")
		}
	}
}

package audit

import (
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestOptioned has programs given passwords by the place of a word alone, and keys as
// words of their own: none of it is in what the log keeps.
func TestOptioned(t *testing.T) {
	const body = "MIIEowIBAAKCAQEAswordfishAAAAswordfishBBBBswordfishCCCCabcdefghij"
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + body + "\nKLMNOPswordfishDDDDqrstuvw\n-----END RSA PRIVATE KEY-----"
	for _, line := range []string{
		"mysql -pswordfish shop", "mysqldump -pswordfish shop", "mysqladmin -u root password swordfish", "sshpass -pswordfish ssh h", "sshpass -p swordfish ssh h",
		"ldapsearch -x -w swordfish -D cn=a", "ldapsearch -wswordfish -D cn=a", "ldappasswd -s swordfish -w swordfish2", "7z x -pswordfish a.7z", "rar x -hpswordfish a.rar",
		"unzip -P swordfish a.zip", "zip -Pswordfish a.zip b", "redis-cli -a swordfish ping", "openssl enc -k swordfish -in a", "sqlcmd -U sa -P swordfish -Q x",
		"bcp t out f -U sa -Pswordfish", "mosquitto_pub -u a -P swordfish -t x -m y", "mongosh -pswordfish x", "mongo -u a -p swordfish", "smbclient //h/s -U a%swordfish",
		"htpasswd -b f user swordfish", "ipmitool -H h -U a -P swordfish x", "snmpget -v3 -A swordfish -X swordfish2 h", "keytool -storepass swordfish -list",
		"keytool -storepass=swordfish -list", "ssh-keygen -N swordfish -f k", "az login -u a -p swordfish", "xfreerdp /u:a /p:swordfish /v:h", "pdftk a user_pw swordfish",
		"impacket-psexec a:swordfish@h", "chpasswd <<< 'root:swordfish'", "rclone obscure swordfish", "curl -b session=swordfish https://h", "lftp -u me,swordfish h",
		"/usr/bin/mysqldump -pswordfish shop", "tool -" + body, "tool " + body, "tar -" + body, "ls '" + pem + "'", "grep '" + pem + "' f", "tar '" + pem + "'",
		"echo " + strings.ReplaceAll(pem, "\n", " "),
	} {
		r := optionedRecord(line)
		if strings.Contains(r, "swordfish") {
			t.Errorf("%s\nis kept as %s", line, r)
		}
	}
	// What only looks like it says what happened, and stays.
	for line, stays := range map[string]string{
		"mysql -p swordfish": "swordfish", "docker run -p 8080:80 web": "8080:80", "mkdir -p swordfish/a": "swordfish/a", "cp -p swordfish b": "swordfish",
		"openssl req -key swordfish.pem -new": "swordfish.pem", "grep -w swordfish f": "swordfish", "hydra -P swordfish.txt -l a ssh://h": "swordfish.txt",
		"git clone https://h/a:b@c": "https://h/a:b@c", "ssh -p 2222 h": "2222", "mysql -P3307 shop": "3307", "sqlcmd -P $SWORDFISH": "$SWORDFISH",
	} {
		if r := optionedRecord(line); !strings.Contains(r, stays) {
			t.Errorf("%s\nis kept as %s", line, r)
		}
	}
}

// optionedRecord is all that a record would keep of a line.
func optionedRecord(line string) string {
	ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"cwd": "/p", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}}
	d := hook.Decision{Facts: facts.New(facts.World{Home: "/home/a"}).Of(&ev)}
	r := Of(&ev, &d, hook.Continue)
	r.Keep(&ev, &d, d.Facts)
	return string(r.JSON())
}

package code

import "testing"

// TestDropsAll: what empties a database, and words of pages, texts and directories that are alike.
func TestDropsAll(t *testing.T) {
	for text, want := range map[string]bool{
		"TRUNCATE users": true, "await db.query(`truncate ${t}`)": true, "'truncate ' + t": true, "cur.execute('truncate users')": true, "User::truncate()": true,
		"truncate table a": true, "sequelize.sync({ force: true })": true, "await mongoose.connection.dropDatabase()": true, "DELETE FROM users;": true, "r.flushall()": true,
		`<p className="mt-2 truncate text-sm">`: false, "className={`truncate ${x}`}": false, "text.truncate(40)": false, `<td class="truncate">`: false,
		"fs.rmSync(dir, { recursive: true, force: true })": false, "const size = 1": false,
	} {
		if DropsAll(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// TestSecretInAddress: a password or a key in an address, and the link of a mail for a new one.
func TestSecretInAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"fetch(`https://x.io/in?p=${dbPassword}`)": true, "get('https://x.io/?s=' + clientSecret)": true,
		"const link = `https://app.shop.io/reset?token=${passwordResetToken}`": false, "'https://shop.io/new?t=' + forgotPasswordToken": false,
		"`http://localhost:8080/?p=${password}`": false, "`https://x.io/${secretName}`": false,
	} {
		if SecretInAddress(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

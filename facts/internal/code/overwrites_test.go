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

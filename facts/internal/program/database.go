package program

import (
	"path"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/peer"
)

// databaseSettings are the files of a project by which its programs know their database.
const databaseSettings = ".env .env.local .env.test .env.testing .env.development .Renviron .env.production .pgpass config/.env"

// dropsOfOthers says why a text that an agent wrote may empty a database of another machine, "" where
// it does not seem to: it drops, and the environment or the settings of the project lead its
// connections there. A database for tests by its name is none.
func (u *use) dropsOfOthers(text string) string {
	if !code.DropsAll(text) || ownDatabase().MatchString(text) {
		return ""
	}
	foreign := func(name, value string) bool {
		lower := strings.ToLower(value)
		if value == "" || throwaway().MatchString(lower) || !namesWord(text, name) && !byDefault().MatchString(name) {
			return false
		}
		host := peer.Parse(value, strings.Contains(value, "://")).Host
		return strings.Contains(host, ".") && !localHost(host) && !peer.Parse(host, false).Private
	}
	for _, name := range strings.Fields("PGHOST DATABASE_URL DB_HOST DB_URL MYSQL_HOST MONGO_URL MONGODB_URI REDIS_URL REDIS_HOST") {
		if value, ok := u.World.Env(name); ok && foreign(name, value) {
			return dropsElsewhere
		}
	}
	for _, file := range strings.Fields(databaseSettings) {
		settings, err := u.World.Read(path.Join(u.World.Project, file), maxImportText)
		if err != nil {
			continue
		}
		for _, found := range databasePeer().FindAllStringSubmatch(settings, maxCommands) {
			if foreign(found[1], found[2]) {
				return dropsElsewhere
			}
		}
	}
	return ""
}

const dropsElsewhere = "code that an agent wrote empties a database that is not on this machine"

var (
	databasePeer = lazy(`(?m)^\s*(?:export\s+)?["']?(\w*(?:HOST|_URL|_URI|_DSN|_SERVER|_ENDPOINT|_ADDR))["']?\s*[=:]\s*["']?([^\s"'#]+)`)
	// ownDatabase finds what tells that a text makes its own database.
	ownDatabase = lazy(`(?i)localhost|127\.0\.0\.1|:memory:|sqlite|testcontainers|test_database_url|mongodb-memory-server|pg-mem|embedded-?postgres|pytest-postgresql|fakeredis`)
	throwaway   = lazy(`(?:^|[^a-z])(?:test|tests|testing|dev|ci|scratch|sandbox|tmp|throwaway)(?:$|[^a-z])`)
	byDefault   = lazy(`^(?:PG|DATABASE_URL$|DB_HOST$|MONGODB_URI$|REDIS_URL$)`)
)

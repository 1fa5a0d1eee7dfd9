package places

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gate/internal/hostfs"
)

// Accounts lists the accounts of the machine that have a home directory and are not
// root, by number: those of the system's files, those of a directory service that lists
// its own, and those that are logged in. With an error come those that could be found.
func Accounts() ([]Numbered, error) {
	return accounts(databases{passwd: "/etc/passwd", getent: getents, logins: "/run/user"})
}

// databases are where accounts are looked for.
type databases struct {
	passwd string
	getent []string // of these programs the first that is there
	logins string   // a directory with one for each account that is logged in, by number
}

func accounts(d databases) ([]Numbered, error) {
	var list []Numbered
	var errs []error
	file, err := os.Open(d.passwd)
	if err == nil {
		var data []byte
		data, err = hostfs.ReadAll(file, maxAccounts)
		file.Close()
		list = numbered(list, data)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", d.passwd, hostfs.Reason(err)))
	}
	ask := func(key ...string) {
		data, err := getent(d.getent, key...)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
		list = numbered(list, data)
	}
	ask()
	logins, _ := os.ReadDir(d.logins) // on a system without, nobody has one
	for _, login := range logins {
		uid, err := strconv.ParseUint(login.Name(), 10, 32)
		if err == nil && uid > 0 && !slices.ContainsFunc(list, func(n Numbered) bool { return n.UID == uint32(uid) }) {
			ask(login.Name())
		}
	}
	slices.SortFunc(list, func(a, b Numbered) int { return int(a.UID) - int(b.UID) })
	return list, errors.Join(errs...)
}

// numbered adds the accounts of a file. Of several entries with one number the first
// counts, as it does for the system.
func numbered(list []Numbered, file []byte) []Numbered {
	for line := range bytes.Lines(file) {
		line = bytes.TrimSpace(line)
		fields := bytes.Split(line, []byte(":"))
		if len(fields) != 7 || bytes.IndexByte([]byte("#+-"), line[0]) >= 0 {
			continue
		}
		uid, uidErr := strconv.ParseUint(string(fields[2]), 10, 32)
		gid, gidErr := strconv.ParseUint(string(fields[3]), 10, 32)
		home := filepath.Clean(string(fields[5]))
		if errors.Join(uidErr, gidErr) != nil || uid == 0 || uid == math.MaxUint32 || gid == math.MaxUint32 || !filepath.IsAbs(home) || home == "/" {
			continue
		}
		n := Numbered{Account{Name: string(fields[0]), Home: home}, uint32(uid), uint32(gid)}
		if n.Name != "" && !slices.ContainsFunc(list, func(o Numbered) bool { return o.UID == n.UID }) {
			list = append(list, n)
		}
	}
	return list
}

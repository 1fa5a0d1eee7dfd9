package main

import (
	"regexp"
	"strings"
)

var (
	numbered  = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)(?:-([0-9A-Za-z.-]+?))?(?:\+([0-9A-Za-z.-]+))?$`)
	described = regexp.MustCompile(`^(.+)-([0-9]+)-(g[0-9a-f]+)$`) // of git describe: tag, commits since, hash
	oddInWord = regexp.MustCompile(`[^0-9A-Za-z.]+`)
)

// A packageVersion is the release's name taken apart, as versions of packages are ordered:
// what is before a number begins with "~" in both families, what is after it with "+" in
// Debian's and "^" in rpm's, where "1.2+3" would be newer than "1.2.1".
type packageVersion struct {
	number string   // "1.2.0", or "0"
	before string   // "rc.1", or the time and name of what has no number
	after  []string // commits since, hash, "dirty"
}

// packageVersion reads names such as "v1.2.0", "v1.2.0-rc.1", and what git describe says.
// A name without a number, such as a bare hash, is older than every release with one;
// those are ordered by the time of their commits.
func (r *Release) packageVersion() packageVersion {
	name, dirty := strings.CutSuffix(r.Version, "-dirty")
	var v packageVersion
	if m := described.FindStringSubmatch(name); m != nil {
		name, v.after = m[1], m[2:]
	}
	bare := r.Commit != "" && strings.HasPrefix(r.Commit, name)
	if m := numbered.FindStringSubmatch(name); m != nil && !bare {
		v.number, v.before = m[1], oddInWord.ReplaceAllString(m[2], ".")
		if m[3] != "" {
			v.after = append([]string{oddInWord.ReplaceAllString(m[3], ".")}, v.after...)
		}
	} else {
		word := strings.Trim(oddInWord.ReplaceAllString(name, "."), ".")
		v.number, v.before = "0", r.Time.UTC().Format("git20060102.150405.")+word
	}
	if dirty {
		v.after = append(v.after, "dirty")
	}
	return v
}

// write joins the parts, with what begins a word after the number.
func (v packageVersion) write(after string) string {
	text := v.number
	if v.before != "" {
		text += "~" + v.before
	}
	if len(v.after) > 0 {
		text += after + strings.Join(v.after, ".")
	}
	return text
}

// debVersion is the release's name as a version of Debian's packages (deb-version(7)),
// without a revision.
func (r *Release) debVersion() string { return r.packageVersion().write("+") }

// rpmVersion is the release's name as a version of rpm's packages (rpm-version(7)).
func (r *Release) rpmVersion() string { return r.packageVersion().write("^") }

// semver is the version in the form of https://semver.org, where a number has three parts.
func (v packageVersion) semver() string {
	parts := strings.Split(v.number, ".")
	for i, p := range parts {
		if p = strings.TrimLeft(p, "0"); p == "" {
			p = "0"
		}
		parts[i] = p
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	text := strings.Join(parts[:3], ".")
	if v.before != "" {
		before := v.before
		if strings.HasPrefix(before, "git") {
			before = strings.ReplaceAll(before, ".", "-") // a time alone may begin with 0, and no number may
		}
		text += "-" + before
	}
	if more := append(parts[3:], v.after...); len(more) > 0 {
		text += "+" + strings.Join(more, ".")
	}
	return text
}

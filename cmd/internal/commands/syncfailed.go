package commands

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/internal/core"
	"gate/internal/hostfs"
	"gate/internal/install"
	"gate/internal/sealed"
	"gate/internal/secret"
	"gate/internal/sync"
)

// heal repairs what is lost or cut off of the machine's own files, and says so.
func (s *syncer) heal(ctx context.Context, r sync.Rules) error {
	did, err := s.store.Heal(ctx, r)
	for _, line := range did {
		fmt.Fprintf(s.stderr, "gate: %s\n", visible(line))
	}
	return err
}

// noteFailures writes down for every account what fails. A person who gave
// --from knows already; but a bundle that it brought fails no longer.
func (s *syncer) noteFailures(ctx context.Context, list []synced, err error) {
	now := time.Now()
	var fails []sync.Failure
	byHand := s.flags.feed.URL != ""
	if byHand {
		for _, f := range s.store.Failures() {
			if !brought(list, f.Name) {
				fails = append(fails, f)
			}
		}
	}
	if err != nil && !byHand {
		fails = append(fails, sync.Failure{At: now, Err: failureText(err)})
	}
	for _, b := range list {
		if b.Err != nil && !byHand {
			fails = append(fails, sync.Failure{Name: b.feed.Name, At: now, Refused: !b.unjudged(), Err: failureText(b.Err)})
		}
	}
	if len(fails) == 0 && len(s.store.Failures()) == 0 {
		return
	}
	if err := s.store.NoteFailures(ctx, fails); err != nil {
		fmt.Fprintf(s.stderr, "gate: note: gate doctor cannot say that this failed: %s\n", oneLine(err.Error()))
	}
}

func brought(list []synced, name string) bool {
	return slices.ContainsFunc(list, func(b synced) bool { return b.Name == name && b.Err == nil })
}

func failureText(err error) string {
	return secret.Redact(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// managedStore is the managed directory for whoever only looks.
func managedStore(d dirs) sync.Store { return sync.Store{Dir: d.Managed} }

// syncFindings are what fails in syncs, and what could not be repaired.
func (f *installFlags) syncFindings() []install.Finding {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return nil // said already
	}
	var list []install.Finding
	for _, fail := range managedStore(d).Failures() {
		list = append(list, failureFinding(fail))
	}
	damaged := managedStore(d).DamagedFiles()
	for _, name := range slices.Sorted(maps.Keys(damaged)) {
		list = append(list, damagedFinding(d, name, damaged[name]))
	}
	return append(list, unreadableFindings(d)...)
}

func failureFinding(fail sync.Failure) install.Finding {
	what := "fails"
	if fail.Refused {
		what = "is refused"
	}
	about := "the sync of this machine"
	if fail.Name != "" {
		about = "the sync of " + fail.Name
	}
	text := fmt.Sprintf("%s %s since %s, last on %s: %s", about, what,
		fail.Since.Local().Format(time.DateTime), fail.At.Local().Format(time.DateTime), fail.Err)
	return install.Finding{
		ID: "gate.sync", Severity: install.Warning, Message: text,
		Remedy: "what was in force stays; once the cause is gone, " + core.Remedy,
	}
}

func damagedFinding(d dirs, name string, at time.Time) install.Finding {
	file := filepath.Join(d.Managed, filepath.FromSlash(sync.Damaged(name)))
	x := install.Finding{
		ID: "gate.damaged", Severity: install.Warning, File: file,
		Message: fmt.Sprintf("%s could not be read on %s, and was made anew of what is signed here", name, at.Local().Format(time.DateTime)),
		Remedy:  "find out who or what damaged it, then remove the file",
	}
	if name == sync.SeenFile {
		x.Message += "; versions of bundles that were not in force then are forgotten, and older ones of them could return"
	}
	return x
}

// unreadableFindings are the files of the machine that no sync can do without, and
// that are lost or cannot be read. Of what is in force the sources themselves say it.
func unreadableFindings(d dirs) []install.Finding {
	at := func(name string) string { return filepath.Join(d.Managed, filepath.FromSlash(name)) }
	var list []install.Finding
	wrong := func(name string, err error, remedy string) {
		list = append(list, install.Finding{
			ID: "gate.damaged", Severity: install.Warning, File: at(name),
			Message: "what is in force stays, and no update is taken: " + oneLine(err.Error()), Remedy: remedy,
		})
	}
	takes := hostfs.Exists(at(sync.CurrentFile)) || hostfs.Exists(at(sync.SeenFile))
	if _, err := readKeys(at(sync.KeysFile)); err != nil && takes {
		wrong(sync.KeysFile, fmt.Errorf("the key set: %w", err), core.Remedy+"; if it cannot, put the last published key set there")
	}
	if data, err := readFile(at(sync.SeenFile), maxSealed); err == nil {
		if _, err := sealed.ParseSeen(data); err != nil {
			wrong(sync.SeenFile, err, core.Remedy)
		}
	}
	if data, err := readFile(at(sync.ChannelFile), maxSealed); err == nil {
		if _, _, err := sealed.ParseChannel(data); err != nil {
			wrong(sync.ChannelFile, err, "put the channel there that is published")
		}
	}
	return list
}

// failureDocuments are the syncs that fail, for the inventory.
func failureDocuments(d dirs) []any {
	docs := []any{}
	for _, f := range managedStore(d).Failures() {
		docs = append(docs, map[string]any{
			"name": document.OrNull(f.Name), "since": f.Since.UTC().Format(time.RFC3339), "at": f.At.UTC().Format(time.RFC3339),
			"refused": f.Refused, "error": visible(f.Err),
		})
	}
	return docs
}

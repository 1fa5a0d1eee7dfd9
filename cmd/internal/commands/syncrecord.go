package commands

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gate/bundles"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/secret"
	"gate/internal/setting"
)

// noteAll writes into the decision log what came into force and what was
// refused. A source that gave nothing, or a full disk, is no decision about a bundle.
func (s *syncer) noteAll(list []synced) {
	var inForce []audit.Bundle
	for _, b := range list {
		if a := b.After; a.Digest != "" {
			inForce = append(inForce, audit.Bundle{Name: audit.BundleName(hook.Bundle{Name: a.Name, Trial: b.Trial}), Revision: strconv.FormatInt(a.Version, 10), Digest: a.Digest})
		}
	}
	for _, b := range list {
		about := cmp.Or(b.offered, b.Before.Digest) // a trial that ends was offered earlier
		if b.offered == "" && !b.Trial || b.Err == nil && !b.Changed() || b.unjudged() {
			continue
		}
		s.note(audit.Record{
			Call: b.line(), Reasons: refusalReasons(b.Err, b.url), Bundles: inForce,
			Sync: &audit.Sync{
				Name: cmp.Or(b.Name, "(unknown)"), Trial: b.Trial, Digest: about, Version: b.After.Version, Before: b.Before.Version, Signers: b.Signers,
			},
		})
	}
}

// noteKeys writes into the decision log what became of a successor of the key
// set in force, whose version is before.
func (s *syncer) noteKeys(offered []byte, url string, before int64, err error) {
	about := audit.Sync{Digest: sealed.Digest(offered), Before: before, Version: before}
	text := "the key set: "
	if err == nil {
		about.Version++
		text += fmt.Sprintf("version %d is in force, after version %d", about.Version, before)
	} else {
		text += fmt.Sprintf("refused: %s; version %d stays in force", err, before)
	}
	s.note(audit.Record{Call: text, Reasons: refusalReasons(err, url), Sync: &about})
}

// noteChannel writes into the decision log that a channel was refused. One that
// was taken shows in what comes into force.
func (s *syncer) noteChannel(offered []byte, url string, err error) {
	s.note(audit.Record{
		Call: fmt.Sprintf("the channel: refused: %s; no release changes", err), Reasons: refusalReasons(err, url),
		Sync: &audit.Sync{Digest: sealed.Digest(offered)},
	})
}

// note writes one record. That it cannot be written keeps no policy from coming
// into force.
func (s *syncer) note(r audit.Record) {
	if !s.settings.On(setting.Log) {
		return
	}
	r.ID, r.Time, r.User, r.Labels = core.NewID(), time.Now(), places.AccountName(), core.LogLabels(s.settings)
	r.Agent, r.Call = "gate", secret.Redact(strings.ReplaceAll(r.Call, "\n", "; "))
	r.Effect, r.Result = hook.Pass, hook.Continue
	if len(r.Reasons) > 0 {
		r.Effect, r.Result = hook.Deny, hook.Reject
	}
	if err := core.Append(s.dirs, s.settings, r); err != nil {
		fmt.Fprintf(s.stderr, "gate: note: this is not in the decision log: %s\n", oneLine(err.Error()))
	}
}

// refusalReasons has a reason for each refusal, whose id ends with its word.
// What failed otherwise, such as a bundle's own tests, is unfit.
func refusalReasons(err error, url string) []audit.Reason {
	if err == nil {
		return nil
	}
	reason := func(word, text string) audit.Reason {
		return audit.Reason{ID: "bundle." + word, Effect: hook.Deny, Reason: secret.Redact(text), Source: secret.Redact(url)}
	}
	var list []audit.Reason
	for _, r := range bundles.Refusals(err) {
		list = append(list, reason(string(r.Reason), r.Error()))
	}
	if len(list) == 0 {
		list = append(list, reason(unfitWord, err.Error()))
	}
	return list
}

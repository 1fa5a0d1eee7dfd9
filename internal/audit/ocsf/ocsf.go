// Package ocsf writes records of the decision log as events of the Open Cybersecurity
// Schema Framework, for systems that collect security events in that form.
//
// It maps and sends nothing. The classes, activities and severities are those that the
// Agent Control Standard prescribes (trace/ocsf-mapping.json, 0.1.0). Events carry what
// the log has, redacted as it is. Start with [Event];
// [Base] is for events about something other than a record.
package ocsf

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/moment"
)

// Version is that of OCSF whose classes and attributes the events have.
const Version = "1.5.0"

// Classes of OCSF that steps and decisions of agents have. The category of one is the
// thousand that its number is in.
const (
	ModuleActivity   = 1005
	ProcessActivity  = 1007
	DetectionFinding = 2004
	Authentication   = 3002
	InventoryInfo    = 5001
	Lifecycle        = 6002
	Datastore        = 6005
)

// Other is an activity of any class that has no number of its own.
const Other = 99

// Severity is severity_id for an answer of the Agent Control Standard: allow, modify, ask,
// defer or deny. Any other answer is 0, unknown.
func Severity(answer string) int {
	return map[string]int{"allow": 1, "modify": 2, "ask": 3, "defer": 3, "deny": 4}[answer]
}

// Base begins an event: what each has that OCSF requires of every class, with gate as the
// product. program is gate's version.
func Base(class, activity, severity int, at time.Time, program string) map[string]any {
	product := map[string]any{"name": "gate", "vendor_name": "gate"}
	if program != "" {
		product["version"] = program
	}
	return map[string]any{
		"class_uid": class, "category_uid": class / 1000, "activity_id": activity, "type_uid": class*100 + activity,
		"severity_id": severity, "time": at.UnixMilli(), "metadata": map[string]any{"version": Version, "product": product},
	}
}

// Activities of these classes.
const (
	launch = 1 // a process
	create = 1 // a finding
	revise = 2 // a finding
	logon  = 1
	logoff = 2
	update = 8 // an application
)

// An answer is what became of a call.
type answer int

const (
	allowed  answer = iota
	recorded        // a policy would have objected
	approved        // by a person, after it was asked about
	changed
	asked
	denied
)

// ids are the standard's word for an answer, the caption of its severity, action_id and
// disposition_id.
func (a answer) ids() (word, caption string, action, disposition int) {
	switch a {
	case recorded:
		return "allow", "Informational", 3, 17 // Observed, Logged
	case approved:
		return "ask", "Medium", 1, 8 // Allowed, Approved
	case changed:
		return "modify", "Low", 4, 11 // Modified, Corrected
	case asked:
		return "ask", "Medium", Other, 23 // Challenge
	case denied:
		return "deny", "High", 2, 2 // Denied, Blocked
	}
	return "allow", "Informational", 1, 1 // Allowed, Allowed
}

// Event returns a record as one JSON object, without a line feed. program is gate's
// version. Fields without a place in OCSF stand in unmapped, as the record has them.
func Event(r *audit.Record, program string) ([]byte, error) {
	a := answerOf(r)
	class, activity := classOf(r, a)
	word, caption, action, disposition := a.ids()
	e := Base(class, activity, Severity(word), r.Time, program)
	e["severity"], e["message"], e["unmapped"] = caption, message(r), map[string]any{"gate": json.RawMessage(r.JSON())}
	about := e["metadata"].(map[string]any)
	about["uid"], about["log_name"], about["profiles"] = orID(r), "decisions", []string{"security_control"}
	if activity == Other {
		e["activity_name"] = string(r.Event)
	}
	if r.IsDecision() {
		e["action_id"], e["disposition_id"] = action, disposition
		policy(e, r)
	}
	of(e, r, class)
	return json.Marshal(said(e))
}

// orID is what names the record among those of all machines.
func orID(r *audit.Record) string {
	if r.Key != "" {
		return r.Key
	}
	return r.ID
}

func answerOf(r *audit.Record) answer {
	switch {
	case !r.IsDecision():
		return allowed
	case r.Approved:
		return approved
	case r.Effect == hook.Ask:
		return asked
	case r.Result == hook.Reject || r.Effect > hook.Ask:
		return denied
	case r.Result == hook.ModifyInput || len(r.Changed) > 0:
		return changed
	}
	for i := range r.Policies {
		if r.Policies[i].Objects() {
			return recorded
		}
	}
	return allowed
}

// classOf is the class of what was held up or changed, otherwise that of the event.
func classOf(r *audit.Record, a answer) (class, activity int) {
	switch {
	case r.Sync != nil:
		return Lifecycle, update
	case r.Review != nil:
		return DetectionFinding, revise
	case a == denied || a == asked || a == changed || a == approved:
		return DetectionFinding, create
	case r.Tool != "":
		return ProcessActivity, launch
	}
	switch r.Event {
	case hook.SessionStart, hook.SubagentStart:
		return Authentication, logon
	case hook.SessionEnd, hook.SubagentStop:
		return Authentication, logoff
	case hook.PreCompact, moment.PostCompact:
		return Datastore, Other
	}
	return Lifecycle, Other
}

// message says in one line what was decided about what.
func message(r *audit.Record) string {
	if s := r.Sync; s != nil {
		return "bundle " + s.Name + " " + s.Digest
	}
	if r.Review != nil {
		return r.Call
	}
	word := r.Effect.String()
	switch answerOf(r) {
	case approved:
		word = "approved"
	case changed:
		word = "changed"
	}
	words := []string{word, string(r.Event), r.Tool, r.Call}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// said leaves out texts that the record does not have.
func said(m map[string]any) map[string]any {
	for key, v := range m {
		switch v := v.(type) {
		case string:
			if v == "" {
				delete(m, key)
			}
		case map[string]any:
			said(v)
		}
	}
	return m
}

// policy names the policy that decided: the first with the effect of the decision.
func policy(e map[string]any, r *audit.Record) {
	if len(r.Reasons) == 0 {
		if len(r.Faults) > 0 {
			e["status_detail"] = r.Faults[0]
		}
		return
	}
	why := r.Reasons[0]
	p := map[string]any{"uid": why.ID, "name": why.ID, "desc": why.Reason}
	for _, b := range r.Bundles {
		if strings.HasSuffix(why.Source, ":"+b.Name) {
			p["version"] = b.Revision
		}
	}
	e["policy"], e["status_detail"] = p, why.Reason
}

// of adds what a class requires.
func of(e map[string]any, r *audit.Record, class int) {
	user := map[string]any{"name": orUnknown(r.User), "type_id": 0}
	actor := map[string]any{"user": user, "app_name": orUnknown(r.Agent), "session": map[string]any{"uid": r.Session}}
	host := map[string]any{"type_id": 0, "hostname": orUnknown(r.Labels["host"])}
	process := said(map[string]any{"name": orUnknown(r.Tool), "cmd_line": r.Call, "working_directory": r.Dir})
	app := map[string]any{"name": orUnknown(r.Agent), "vendor_name": orUnknown(r.Agent)}
	switch class {
	case DetectionFinding:
		e["finding_info"] = finding(r)
		if r.Review != nil {
			review(e, r.Review)
			e["device"], e["actor"] = host, map[string]any{"user": user}
			return
		}
		e["evidences"] = []any{map[string]any{"process": process, "actor": actor, "device": host}}
		e["is_alert"] = r.Result == hook.Reject
		e["device"], e["actor"] = host, actor
	case ProcessActivity:
		e["process"], e["device"], e["actor"] = process, host, actor
	case Authentication:
		e["user"], e["device"], e["session"] = user, host, actor["session"]
	case Datastore:
		e["actor"], e["src_endpoint"] = actor, map[string]any{"name": host["hostname"]}
		e["database"] = map[string]any{"name": "context of the agent", "type_id": Other, "type": "context"}
	case Lifecycle:
		if s := r.Sync; s != nil {
			app = map[string]any{"name": s.Name, "vendor_name": orUnknown(strings.Join(s.Signers, ", ")), "uid": s.Digest}
		}
		e["app"], e["device"], e["actor"] = app, host, actor
	}
}

// finding is what a detection is about.
func finding(r *audit.Record) map[string]any {
	f := map[string]any{"uid": orID(r), "title": message(r), "created_time": r.Time.UnixMilli(), "product_uid": "gate"}
	var analytics []string
	for _, why := range r.Reasons {
		analytics = append(analytics, why.ID)
	}
	if len(analytics) > 0 {
		f["analytic"] = map[string]any{"type_id": 1, "type": "Rule", "uid": analytics[0], "name": analytics[0]}
		f["types"] = analytics
	}
	return f
}

// review says of a finding what a person said of the decision that it is about.
func review(e map[string]any, v *audit.Review) {
	info := e["finding_info"].(map[string]any)
	info["uid"] = cmp.Or(v.Key, v.Of)
	if len(v.Policies) > 0 {
		info["types"] = v.Policies
	}
	e["status_id"], e["status"], e["comment"], e["is_alert"] = Other, v.Says.String(), v.Note, false
	if v.Says == audit.FalseAlarm {
		e["status_id"], e["status"] = suppressed, "Suppressed" // "determined to be a false positive"
	}
}

// suppressed is the status of a finding that was none.
const suppressed = 3

// orUnknown is a text that OCSF requires.
func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

package board

import "gate/internal/collect/store"

// A kind is how the page speaks of findings of a kind.
type kind struct {
	kind     string
	severity string // error, warning or notice
	title    string
	todo     string
}

// kinds are all of them; those that need a person first stand first.
func kinds() []kind {
	return []kind{
		{store.Weaker, "error", "Settings weaker than a bundle wants", "Look at the machine's settings: an administrator of it has loosened a policy."},
		{store.NoRecords, "error", "An agent ran without gate's records", "Its hook was off or went around gate: run gate doctor there."},
		{store.Hook, "error", "An agent's hook is missing, or another program's", "Run gate doctor --fix there, or roll gate out again."},
		{store.Changed, "error", "A record was changed after it was written", "The log of this machine was tampered with: keep it, and talk to its owner."},
		{store.Twice, "error", "A record was sent with two contents", "Both are kept: compare them. A copied machine looks the same."},
		{store.Behind, "error", "A log ends before what came of it", "Records were cut off, or the disk was put back."},
		{store.Anew, "error", "A log was deleted and begun again", "Ask who deleted it."},
		{store.Gone, "error", "A log that was sent holds nothing any more", "Ask who emptied it."},
		{store.Shorter, "error", "A log ends before what was sent of it", "Records were cut off, or the disk was put back."},
		{store.HeadGone, "error", "A log is not among the machine's any more", "Ask who deleted it, or close the finding if the account was removed."},
		{store.Lost, "error", "The machine has records no more that never came", "They are lost: see whether its log is kept long enough."},
		{store.BadSignature, "error", "Requests in a machine's name that its key did not sign", "Somebody speaks in its name, or it was set up anew: enrol it again."},
		{store.StatusBack, "error", "A status number came twice", "The machine is there twice, or was put back from a copy."},
		{store.OtherAccount, "error", "A record of another account in a log", "Look at who may write into the log."},
		{store.Silent, "warning", "Not heard of", "See whether the machine is in use; run gate sync there."},
		{store.NotEnrolled, "warning", "Expected, and never enrolled", "Roll gate out to it, or take it off the list."},
		{store.Unlisted, "warning", "Enrolled, and on no list", "Put it on the list, or forget it."},
		{store.Unknown, "warning", "Requests of a machine that is not enrolled", "Enrol it, or find out who it is."},
		{store.Gap, "warning", "Records of a chain are missing", "They may still come; if they do not, look at the machine's log."},
		{store.Ahead, "warning", "Records that the machine has did not come", "Run gate log ship there, and see what it says."},
		{store.NotSynced, "warning", "A bundle could not be fetched, or was refused", "Run gate sync --now there, and see what it says."},
		{store.NotSent, "warning", "Records could not be sent", "Run gate log ship there, and see what it says."},
		{store.Unread, "warning", "Root could not read the log of an account", "Look at the rights of the log's directory."},
		{store.Doctor, "warning", "An error that gate doctor found", "Run gate doctor there."},
		{store.OddTime, "warning", "A record's time is far off", "Set the machine's clock."},
		{store.TimeBack, "notice", "A record is older than the one before", "Set the machine's clock."},
		{store.Skew, "notice", "The clock is more than 5 minutes off", "Set the machine's clock."},
	}
}

// kindOf is how to speak of a kind; one that the page does not know has its own word.
func kindOf(name string) kind {
	for _, k := range kinds() {
		if k.kind == name {
			return k
		}
	}
	return kind{name, "warning", name, ""}
}

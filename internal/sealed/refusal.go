package sealed

import (
	"fmt"
)

// A Reason is why a bundle, an envelope or a key set is refused. It is an error
// itself, so that errors.Is(err, sealed.Expired) asks for it; its text is a
// word for programs, Sentence one for people.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	TooLarge      Reason = "too_large"      // more than Limits allows
	Malformed     Reason = "malformed"      // an archive that no honest packer writes
	UnsafeName    Reason = "unsafe_name"    // a file's name that means something else somewhere
	BadFile       Reason = "bad_file"       // a file that two readers would understand differently
	Unsigned      Reason = "unsigned"       // no signature at all
	BadEnvelope   Reason = "bad_envelope"   // an envelope or .signatures.json that cannot be read
	BadAlgorithm  Reason = "bad_algorithm"  // none, HMAC, or not the key's own
	UnknownKey    Reason = "unknown_key"    // only keys that the key set does not hold
	RevokedKey    Reason = "revoked_key"    // a key that was withdrawn
	BadSignature  Reason = "bad_signature"  // a known key, but not its signature
	WrongDigest   Reason = "wrong_digest"   // other bytes than those that were signed
	NotCovered    Reason = "not_covered"    // a file that was not signed
	MissingFile   Reason = "missing_file"   // a signed file that is not there
	BadManifest   Reason = "bad_manifest"   // no manifest, two, or one that cannot be read
	NoMetadata    Reason = "no_metadata"    // no metadata.gate, and no pin
	WrongName     Reason = "wrong_name"     // another bundle than was asked for
	NotAllowed    Reason = "not_allowed"    // the key may not sign this
	TooFewKeys    Reason = "too_few_keys"   // below the threshold
	WrongAudience Reason = "wrong_audience" // for other machines
	Expired       Reason = "expired"        // the bundle's time is over
	TooNew        Reason = "too_new"        // needs a newer gate
	Rollback      Reason = "rollback"       // older than what was seen, or the same version with other bytes
	FastForward   Reason = "fast_forward"   // a version too far ahead
	BadKeySet     Reason = "bad_key_set"    // a key set that cannot be read, or contradicts itself
	KeysExpired   Reason = "keys_expired"   // the key set's time is over
	BadSuccessor  Reason = "bad_successor"  // a key set that may not follow the one in force
	BadGrant      Reason = "bad_grant"      // a channel or recovery file that cannot be read, or contradicts itself
	OffChannel    Reason = "off_channel"    // a good bundle, but not the release that the channel has for this machine
)

func (r Reason) Error() string { return string(r) }

// Sentence says the reason to people, in lower case and without a full stop.
func (r Reason) Sentence() string {
	if w, known := words[r]; known {
		return w.sentence
	}
	return "it is refused"
}

// Hint says what to do about it.
func (r Reason) Hint() string { return words[r].hint }

// words say the reasons, and what to do, to people.
var words = map[Reason]struct{ sentence, hint string }{
	TooLarge:      {"it is larger than gate takes", "split the bundle, or leave out what policies do not read"},
	Malformed:     {"it is not a well-formed bundle archive", "build it again with gate bundle build; a proxy may have put a page in its place"},
	UnsafeName:    {"it holds a file whose name is not safe everywhere", "rename the file and build the bundle again"},
	BadFile:       {"it holds a file that cannot be taken", "change or remove the file, and build the bundle again"},
	Unsigned:      {"it carries no signature", "sign it with gate bundle sign, and fetch the .gate.json file beside it too"},
	BadEnvelope:   {"its signatures cannot be read", "sign the bundle again with gate bundle sign"},
	BadAlgorithm:  {"its signature is of a kind that is not the key's", "sign with the algorithm that the key set gives the key"},
	UnknownKey:    {"no key of the key set signed it", "sign with a listed key (gate keys list), or bring the key set up to date"},
	RevokedKey:    {"a key that was revoked signed it", "sign it again with a key that is in force"},
	BadSignature:  {"a signature is wrong: the bundle or the signature was changed", "fetch it again from the publisher; if it stays so, tell whoever signs"},
	WrongDigest:   {"its bytes are not those that were signed", "fetch bundle and envelope again; sign again if the bundle was built anew"},
	NotCovered:    {"it holds a file that nobody signed", "sign the bundle after the last change to it"},
	MissingFile:   {"a file that was signed is not in it", "fetch it again, or sign the bundle after the last change to it"},
	BadManifest:   {"its manifest is wrong", "mend .manifest and build the bundle again"},
	NoMetadata:    {"its manifest has no metadata.gate, and its digest is not pinned", "add metadata.gate to .manifest, or pin the digest"},
	WrongName:     {"it is another bundle than the one asked for", "look at the source's address and at the bundle's name"},
	NotAllowed:    {"the key that signed it may not sign this bundle", "sign with a key that may, or change what the key may sign"},
	TooFewKeys:    {"too few keys signed it", "have another holder of a key sign it with gate bundle sign"},
	WrongAudience: {"it is meant for other machines", "look at the labels of this machine and at those of the bundle"},
	Expired:       {"it has expired", "publish a new version; look at this machine's clock too"},
	TooNew:        {"it needs a newer gate", "update gate on this machine"},
	Rollback:      {"a newer version of it was already seen here", "to go back, publish the old content under a new version"},
	FastForward:   {"its version is too far ahead", "publish it with the next version"},
	BadKeySet:     {"the key set is wrong", "restore the key set from its last good copy"},
	KeysExpired:   {"the key set has expired", "publish a new version of the key set"},
	OffChannel:    {"it is not the release that the channel has for this machine", "publish that release where url points, or once for all with {digest} in url"},
	BadGrant:      {"the channel or recovery file is wrong", "make it again with gate bundle channel or gate bundle recovery"},
	BadSuccessor:  {"the new key set may not follow the one in force", "take every version in turn, each signed by the root keys of the one before"},
}

// A Refusal says why something is refused. [errors.Is] finds its Reason and
// what is below Err.
type Refusal struct {
	Reason Reason
	File   string // within the bundle; "" where it is not about one file
	Err    error  // the details; nil where the reason says everything
}

func (r *Refusal) Error() string {
	text := r.Reason.Sentence()
	if r.File != "" {
		text = r.File + ": " + text
	}
	if r.Err != nil {
		text += ": " + r.Err.Error()
	}
	return text
}

func (r *Refusal) Unwrap() []error {
	if r.Err == nil {
		return []error{r.Reason}
	}
	return []error{r.Reason, r.Err}
}

// refuse makes a refusal with details.
func Refuse(r Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: r, Err: fmt.Errorf(format, args...)}
}

// refuseFile is refuse about one file of the bundle.
func RefuseFile(r Reason, file string, err error) *Refusal {
	return &Refusal{Reason: r, File: file, Err: err}
}

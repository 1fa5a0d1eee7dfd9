package bundles

import "gate/internal/sealed"

type (
	// An Algorithm is how a key signs, by its name in JWS; Ed25519 stands for EdDSA
	// with that curve.
	Algorithm = sealed.Algorithm
	// A Bundle is one that was verified. It is immutable and safe for concurrent use.
	Bundle = sealed.Bundle
	// A Check is everything that decides whether a bundle is taken. The zero Check
	// takes none.
	Check = sealed.Check
	// A Key is a public key of a key set, and what it may sign.
	Key = sealed.Key
	// A KeySet says which keys may sign what. It is the only place that keys and
	// their algorithms come from. The zero KeySet trusts nobody.
	KeySet = sealed.KeySet
	// Limits bound an archive while it is read. A zero field means its default.
	Limits = sealed.Limits
	// A Manifest is what a bundle says about itself.
	Manifest = sealed.Manifest
	// Metadata is metadata.gate of the manifest.
	Metadata = sealed.Metadata
	// A Reason is why a bundle, an envelope or a key set is refused. It is an error
	// itself, so that errors.Is(err, sealed.Expired) asks for it; its text is a
	// word for programs, Sentence one for people.
	Reason = sealed.Reason
	// A Refusal says why something is refused. [errors.Is] finds its Reason and
	// what is below Err.
	Refusal = sealed.Refusal
	// A Signing is one key's act on a bundle.
	Signing = sealed.Signing
)

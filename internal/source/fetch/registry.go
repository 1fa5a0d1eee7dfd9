package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"gate/internal/source"
)

// EnvelopeType is the media type of an envelope in a registry. The archive is a
// layer of [ocispec.MediaTypeImageLayerGzip], as OPA wants it.
const EnvelopeType = "application/vnd.gate.envelope.v1+json"

const maxManifest = 4 << 20

// A registry is a bundle in a registry for containers.
type registry struct {
	options    source.Options
	repository *remote.Repository
}

func openRegistry(o source.Options, reference string) (*registry, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return nil, fmt.Errorf("%s: oci://host/repository:tag is wanted: %w", o.URL, err)
	}
	if repository.Reference.Reference == "" {
		return nil, fmt.Errorf("%s: a tag or a digest is wanted at the end, such as :latest", o.URL)
	}
	transport, err := transportOf(o)
	if err != nil {
		return nil, err
	}
	host := repository.Reference.Host()
	repository.PlainHTTP = local(host)
	client := &auth.Client{
		Client: &http.Client{Transport: &homely{transport, host, o.TokenFile != ""}, CheckRedirect: redirectBlobs},
		Cache:  auth.NewCache(), Header: http.Header{"User-Agent": {o.Agent}},
	}
	if o.TokenFile != "" {
		client.Credential = func(_ context.Context, asked string) (auth.Credential, error) {
			if asked != host {
				return auth.EmptyCredential, nil
			}
			return credential(o.TokenFile)
		}
	}
	repository.Client = client
	repository.MaxMetadataBytes = maxManifest
	return &registry{o, repository}, nil
}

// credential is what a token file says: user:password, or a token.
func credential(file string) (auth.Credential, error) {
	data, err := small(file)
	if err != nil {
		return auth.EmptyCredential, err
	}
	text := strings.TrimSpace(string(data))
	if user, password, ok := strings.Cut(text, ":"); ok {
		return auth.Credential{Username: user, Password: password}, nil
	}
	return auth.Credential{AccessToken: text}, nil
}

// A homely transport keeps credentials at home: a registry may name a server of
// its own that gives out tokens, but no other host gets to see ours.
type homely struct {
	http.RoundTripper
	host   string
	secret bool
}

func (h *homely) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.secret && r.URL.Host != h.host && (r.Header.Get("Authorization") != "" || r.Method != http.MethodGet) {
		return nil, fail("give a token that the registry itself takes", "the registry would have the password sent to %s", r.URL.Host)
	}
	return h.RoundTripper.RoundTrip(r)
}

// redirectBlobs lets registries keep what is named by its digest elsewhere;
// a tag means what the registry itself says.
func redirectBlobs(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fail("", "the registry sends us on and on")
	case r.URL.Scheme == first.Scheme && r.URL.Host == first.Host:
		return nil
	case !strings.Contains(first.Path, "/blobs/") || r.URL.Scheme != "https":
		return fail("if that is the right registry, write its address into the settings",
			"the registry sends us on to %s://%s", r.URL.Scheme, r.URL.Host)
	}
	r.Header.Del("Authorization")
	return nil
}

// Fetch asks what the tag stands for, and fetches it if that is something else.
func (g *registry) Fetch(ctx context.Context, tag string) (source.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, g.options.Time)
	defer cancel()
	found, err := g.fetch(ctx, tag)
	return found, g.worded(err)
}

func (g *registry) fetch(ctx context.Context, tag string) (source.Found, error) {
	d, err := g.repository.Resolve(ctx, g.repository.Reference.Reference)
	if err != nil {
		return source.Found{}, err
	}
	if d.Digest.String() == tag {
		return source.Found{Tag: tag, Unchanged: true}, nil
	}
	if d.MediaType != ocispec.MediaTypeImageManifest {
		return source.Found{}, fail("push the bundle with gate bundle push, or with oras", "what is there is a %s, not one artifact", d.MediaType)
	}
	data, err := g.blob(ctx, d, maxManifest)
	if err != nil {
		return source.Found{}, err
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return source.Found{}, fail("", "the artifact's manifest cannot be read: %w", err)
	}
	archive, envelope, err := layers(m)
	if err != nil {
		return source.Found{}, err
	}
	found := source.Found{Tag: d.Digest.String()}
	if found.Archive, err = g.blob(ctx, *archive, g.options.Limit); err == nil && envelope != nil {
		found.Envelope, err = g.blob(ctx, *envelope, maxEnvelope)
	}
	if err != nil {
		return source.Found{}, err
	}
	return found, nil
}

// layers finds the bundle among what an artifact holds, and its envelope.
func layers(m ocispec.Manifest) (archive, envelope *ocispec.Descriptor, err error) {
	for i, l := range m.Layers {
		title := l.Annotations[ocispec.AnnotationTitle]
		into := &archive
		switch {
		case l.MediaType == EnvelopeType || strings.HasSuffix(title, source.EnvelopeSuffix):
			into = &envelope
		case l.MediaType == ocispec.MediaTypeImageLayerGzip, strings.HasSuffix(title, ".tar.gz"), strings.HasSuffix(title, ".tgz"):
		default:
			continue
		}
		if *into != nil {
			return nil, nil, fail("one artifact holds one bundle", "the artifact holds several bundles or envelopes")
		}
		*into = &m.Layers[i]
	}
	if archive == nil {
		return nil, nil, fail("what conftest pushes are single files without a signature; push the signed bundle with gate bundle push, or with oras",
			"the artifact holds no bundle (a layer of type %s, or a .tar.gz)", ocispec.MediaTypeImageLayerGzip)
	}
	return archive, envelope, nil
}

// blob reads what a descriptor names, and holds it against its digest.
func (g *registry) blob(ctx context.Context, d ocispec.Descriptor, most int64) ([]byte, error) {
	if d.Size > most {
		return nil, fail("", "%s has %d bytes, %d are allowed", d.Digest, d.Size, most)
	}
	r, err := g.repository.Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return content.ReadAll(io.LimitReader(r, d.Size+1), d)
}

// worded says an error of a registry in one sentence.
func (g *registry) worded(err error) error {
	var answered *errcode.ErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answered):
		return worded(answered.StatusCode, nil)
	case errors.Is(err, errdef.ErrNotFound):
		return worded(http.StatusNotFound, nil)
	}
	return plainTime(err, g.options.Time)
}

// Push implements [source.Client].
func (c Client) Push(ctx context.Context, o source.Options, archive, envelope []byte) (digest string, err error) {
	reference, ok := strings.CutPrefix(o.URL, "oci://")
	if !ok {
		return "", fmt.Errorf("%s: oci://host/repository:tag is wanted", o.URL)
	}
	opened, err := c.Open(o)
	if err != nil {
		return "", fmt.Errorf("%s: %w", reference, err)
	}
	g := opened.(*registry)
	ctx, cancel := context.WithTimeout(ctx, g.options.Time)
	defer cancel()
	d, err := g.push(ctx, archive, envelope)
	return d.Digest.String(), g.worded(err)
}

func (g *registry) push(ctx context.Context, archive, envelope []byte) (ocispec.Descriptor, error) {
	put := func(kind, title string, data []byte) (ocispec.Descriptor, error) {
		d := content.NewDescriptorFromBytes(kind, data)
		there, err := g.repository.Blobs().Exists(ctx, d)
		if err == nil && !there {
			err = g.repository.Blobs().Push(ctx, d, strings.NewReader(string(data)))
		}
		if title != "" {
			d.Annotations = map[string]string{ocispec.AnnotationTitle: title}
		}
		return d, err
	}
	name := g.options.Name + ".tar.gz"
	bundle, err := put(ocispec.MediaTypeImageLayerGzip, name, archive)
	if err != nil {
		return bundle, err
	}
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Layers: []ocispec.Descriptor{bundle}}
	m.SchemaVersion = 2
	if envelope != nil {
		beside, err := put(EnvelopeType, name+source.EnvelopeSuffix, envelope)
		if err != nil {
			return beside, err
		}
		m.Layers = append(m.Layers, beside)
	}
	if m.Config, err = put(ocispec.MediaTypeImageConfig, "", []byte("{}")); err != nil {
		return m.Config, err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return m.Config, err
	}
	d := content.NewDescriptorFromBytes(m.MediaType, data)
	return d, g.repository.PushReference(ctx, d, bytes.NewReader(data), g.repository.Reference.Reference)
}

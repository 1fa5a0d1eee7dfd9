package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A bucket is a place in an S3-style store. A day is one object: it appears whole.
type bucket struct {
	client        *minio.Client
	bucket, below string // the bucket, and what its names begin with: "" or "a/b/"
	tempDir       string
}

// maxObject is the largest object that is fetched, in bytes.
const maxObject = 64 << 30

// amazon is the endpoint where none is named.
const amazon = "https://s3.amazonaws.com"

func newBucket(rest string, o Options) (*bucket, error) {
	name, below, _ := strings.Cut(rest, "/")
	if name == "" {
		return nil, errors.New("it names no bucket")
	}
	if below = strings.Trim(below, "/"); below != "" {
		below += "/"
	}
	at, err := url.Parse(cmp.Or(o.Endpoint, amazon))
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || strings.Trim(at.Path, "/") != "" {
		return nil, errors.New("the store's address is none such as https://host:port")
	}
	creds := credentials.NewIAM("")
	if o.KeyID != "" {
		creds = credentials.NewStaticV4(o.KeyID, o.Secret, o.Token)
	}
	client, err := minio.New(at.Host, &minio.Options{Creds: creds, Secure: at.Scheme == "https", Region: o.Region})
	if err != nil {
		return nil, err
	}
	return &bucket{client, name, below, o.Temp}, nil
}

func (b *bucket) key(day string) string { return b.below + dayPrefix + day + "/" + Part }

func (b *bucket) name(day string) string { return schemeS3 + b.bucket + "/" + b.key(day) }

func (b *bucket) days(ctx context.Context) ([]Day, error) {
	var out []Day
	for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.below + dayPrefix, Recursive: true}) {
		if o.Err != nil {
			return nil, fmt.Errorf("%s%s: %w", schemeS3, b.bucket, o.Err)
		}
		if day := dayOf(strings.TrimPrefix(o.Key, b.below)); day != "" {
			out = append(out, Day{day, o.Size, o.ETag})
		}
	}
	slices.SortFunc(out, func(a, b Day) int { return cmp.Compare(a.Day, b.Day) })
	return out, nil
}

// open fetches the whole object. A replay reads it more than once and here and there,
// which over a network costs more than the disk does.
func (b *bucket) open(ctx context.Context, day string) (*copied, error) {
	o, err := b.client.GetObject(ctx, b.bucket, b.key(day), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer o.Close()
	info, err := o.Stat()
	if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound && minio.ToErrorResponse(err).Code != minio.NoSuchBucket {
		return nil, errNoDay
	}
	if err != nil {
		return nil, err
	}
	if info.Size > maxObject {
		return nil, fmt.Errorf("the file has %d bytes, and %d are taken", info.Size, int64(maxObject))
	}
	c, err := spool(b.tempDir, o, info.Size)
	if err != nil {
		return nil, err
	}
	if c.tag = info.ETag; c.size != info.Size {
		return nil, errors.Join(fmt.Errorf("of %d bytes %d came", info.Size, c.size), c.Close())
	}
	return c, nil
}

func (b *bucket) temp() (*os.File, error) { return os.CreateTemp(b.tempDir, "gate-day-*.parquet") }

// put sends the file, asks the store to refuse it where somebody else was quicker, and
// fetches it again.
func (b *bucket) put(ctx context.Context, day string, f *os.File, instead string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	want, err := digestOf(f)
	if err != nil {
		return err
	}
	o := minio.PutObjectOptions{ContentType: "application/vnd.apache.parquet", SendContentMd5: true}
	if instead == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(instead)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, b.bucket, b.key(day), f, info.Size(), o)
	if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed {
		return errors.New("somebody else has changed it in the meantime")
	}
	if err != nil {
		return err
	}
	c, err := b.open(ctx, day)
	if err != nil {
		return fmt.Errorf("to read it back: %w", err)
	}
	defer c.Close()
	if got, err := digestOf(c.File); err != nil || got != want {
		return errors.Join(errors.New("the store does not give back what it was given"), err)
	}
	return nil
}

func (b *bucket) remove(ctx context.Context, day string) error {
	return b.client.RemoveObject(ctx, b.bucket, b.key(day), minio.RemoveObjectOptions{})
}

// alone holds nobody off: put does, by the tag of what it replaces.
func (b *bucket) alone(context.Context) (func(), error) { return func() {}, nil }

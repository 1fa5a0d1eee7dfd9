package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"

	"gate/internal/format"
)

// Limits of a file. Whoever wrote it says how large all is that a reader makes room for:
// none of it is believed before it was held against these.
const (
	maxFooter    = 16 << 20
	maxElements  = 1 << 18 // of all lists of one part of the footer
	maxDepth     = 12
	maxGroups    = 1 << 12
	maxGroupRows = 1 << 20
	maxPage      = 8 << 20 // bytes, packed and unpacked
	maxValues    = maxGroupRows
	maxHeader    = 64 << 10 // of a page
)

// ErrForeign says that a file is none of gate's archive.
var ErrForeign = errors.New("it is no day of gate's archive")

func foreign(why string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrForeign, fmt.Sprintf(why, values...))
}

// check holds all that a file says about sizes against the limits, before anything is
// made of it: the footer, the indexes, and the head of every page.
func check(in io.ReaderAt, size int64) error {
	footer, err := readFooter(in, size)
	if err != nil {
		return err
	}
	var meta pq.FileMetaData
	if err := decode(footer, &meta); err != nil {
		return foreign("its footer: %v", err)
	}
	if err := checkVersion(&meta); err != nil {
		return err
	}
	return checkGroups(in, size, &meta)
}

// readFooter reads what stands at the end of a file, unless it is too long.
func readFooter(in io.ReaderAt, size int64) ([]byte, error) {
	var tail [8]byte
	if size < 12 {
		return nil, foreign("it has %d bytes", size)
	}
	if _, err := in.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	if string(tail[4:]) != "PAR1" || n > size-12 {
		return nil, foreign("it is no file of Parquet")
	}
	if n > maxFooter {
		return nil, foreign("its footer has %d bytes, and %d are read", n, maxFooter)
	}
	return part(in, size-8-n, n, size)
}

// part reads a part of the file, whole.
func part(in io.ReaderAt, at, n, size int64) ([]byte, error) {
	if at < 0 || n < 0 || n > maxFooter || at > size-n {
		return nil, foreign("a part of it lies outside")
	}
	buf := make([]byte, n)
	_, err := in.ReadAt(buf, at)
	return buf, err
}

// checkVersion holds that the file says it is of gate's, in a form that is read here, and
// that its columns are those of [Row].
func checkVersion(meta *pq.FileMetaData) error {
	version, found := "", false
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key == versionKey {
			version, found = kv.Value, true
		}
	}
	if !found {
		return foreign("its metadata has no %s", versionKey)
	}
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return foreign("its metadata has %q for %s", clip(version), versionKey)
	}
	if err := format.Archive.Check(number); err != nil {
		return err
	}
	if len(meta.Schema) != len(columns)+1 {
		return foreign("it has %d columns, and %d are wanted", len(meta.Schema)-1, len(columns))
	}
	for i := range columns {
		c, e := &columns[i], &meta.Schema[i+1]
		want := pq.ByteArray
		if c.number != nil || c.time != nil {
			want = pq.Int64
		}
		if e.Name != c.name || !e.Type.Valid || e.Type.V != want || e.RepetitionType.Valid && e.RepetitionType.V != pq.Required || e.NumChildren.Valid && e.NumChildren.V != 0 {
			return foreign("in the place of the column %s it has %q, or another type", c.name, clip(e.Name))
		}
	}
	return nil
}

func clip(s string) string { return s[:min(len(s), 40)] }

func checkGroups(in io.ReaderAt, size int64, meta *pq.FileMetaData) error {
	if len(meta.RowGroups) > maxGroups {
		return foreign("it has %d groups of rows, and %d are read", len(meta.RowGroups), maxGroups)
	}
	all := int64(0)
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if len(g.Columns) != len(columns) || g.NumRows < 1 || g.NumRows > maxGroupRows {
			return foreign("a group has %d columns and %d rows", len(g.Columns), g.NumRows)
		}
		all += g.NumRows
		for j := range g.Columns {
			if err := checkChunk(in, size, &g.Columns[j], &columns[j], g.NumRows); err != nil {
				return err
			}
		}
	}
	if all != meta.NumRows {
		return foreign("it says that it has %d rows, and its groups have %d", meta.NumRows, all)
	}
	return nil
}

// checkChunk goes through the pages of one column of a group.
func checkChunk(in io.ReaderAt, size int64, chunk *pq.ColumnChunk, c *column, rows int64) error {
	m := &chunk.MetaData
	at := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		at = min(at, m.DictionaryPageOffset)
	}
	switch {
	case chunk.FilePath != "" || len(chunk.EncryptedColumnMetadata) > 0:
		return foreign("a column stands in another file, or is encrypted")
	case m.Codec != pq.Zstd && m.Codec != pq.Uncompressed:
		return foreign("it is packed by %s, and Zstandard is wanted", m.Codec)
	case m.NumValues != rows || at < 4 || m.TotalCompressedSize < 0 || at > size-m.TotalCompressedSize || m.BloomFilterOffset != 0:
		return foreign("the column %s is not where it says", c.name)
	}
	for _, index := range [][2]int64{{chunk.OffsetIndexOffset, int64(chunk.OffsetIndexLength)}, {chunk.ColumnIndexOffset, int64(chunk.ColumnIndexLength)}} {
		if index[1] == 0 {
			continue
		}
		text, err := part(in, index[0], index[1], size)
		if err != nil {
			return err
		}
		if _, err := skim(text); err != nil {
			return foreign("an index of the column %s: %v", c.name, err)
		}
	}
	values := int64(0)
	for end := at + m.TotalCompressedSize; at < end; {
		n, next, err := checkPage(in, at, end, m.Codec, c)
		if err != nil {
			return err
		}
		values, at = values+n, next
	}
	if values != rows {
		return foreign("the column %s has %d values for %d rows", c.name, values, rows)
	}
	return nil
}

// checkPage looks at the head of a page, and at that of what is packed in it. It returns
// how many values it has, and where the next one begins.
func checkPage(in io.ReaderAt, at, end int64, codec pq.CompressionCodec, c *column) (values, next int64, err error) {
	head := make([]byte, min(maxHeader, end-at))
	if len(head) > 512 { // nearly all are far shorter
		head = head[:512]
	}
	var n int
	for {
		if _, err := in.ReadAt(head, at); err != nil {
			return 0, 0, err
		}
		if n, err = skim(head); err == nil {
			break
		}
		if more := min(maxHeader, end-at); !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(head)) >= more {
			return 0, 0, foreign("a page of the column %s: %v", c.name, err)
		}
		head = make([]byte, min(maxHeader, end-at))
	}
	var h pq.PageHeader
	if err := decode(head[:n], &h); err != nil {
		return 0, 0, foreign("a page of the column %s: %v", c.name, err)
	}
	packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	body := at + int64(n)
	next = body + packed
	if packed < 0 || packed > maxPage || plain < 0 || plain > maxPage || next > end {
		return 0, 0, foreign("a page of the column %s has %d bytes, unpacked %d: %d are read", c.name, packed, plain, maxPage)
	}
	levels := int64(0)
	var with pq.Encoding
	switch {
	case h.Type == pq.DictionaryPage && h.DictionaryPageHeader.Valid && !c.plain && c.text != nil:
		with = pq.Plain
		if n := h.DictionaryPageHeader.V.NumValues; n < 0 || n > maxValues {
			return 0, 0, foreign("a dictionary of the column %s has %d words", c.name, n)
		}
	case h.Type == pq.DataPage && h.DataPageHeader.Valid:
		values, with = int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	case h.Type == pq.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		values, with = int64(v.NumValues), v.Encoding
		levels = int64(v.RepetitionLevelsByteLength) + int64(v.DefinitionLevelsByteLength)
		if v.NumNulls != 0 || levels != 0 || int64(v.NumRows) != values || v.IsCompressed.Valid && !v.IsCompressed.V {
			return 0, 0, foreign("a page of the column %s has levels or nulls", c.name)
		}
	default:
		return 0, 0, foreign("a page of the column %s is of another kind", c.name)
	}
	//lint:ignore SA1019 writers of today still name it so
	if with == pq.PlainDictionary {
		with = pq.RLEDictionary
	}
	if values < 0 || values > maxValues || with != pq.Plain && (with != pq.RLEDictionary || c.plain || c.text == nil) {
		return 0, 0, foreign("a page of the column %s has %d values in the encoding %s", c.name, values, with)
	}
	if codec == pq.Uncompressed {
		if packed != plain {
			return 0, 0, foreign("a page of the column %s has two sizes", c.name)
		}
		return values, next, nil
	}
	return values, next, checkFrame(in, body, packed, plain, c)
}

// maxBlock is what one block of a frame of Zstandard unpacks to at most, in bytes.
const maxBlock = 128 << 10

// checkFrame holds that what is packed is one frame, which unpacks to what a page may
// have: it says its size, where a decoder stops, or has too few blocks for more.
func checkFrame(in io.ReaderAt, at, packed, plain int64, c *column) error {
	if packed == 0 && plain == 0 {
		return nil
	}
	data := make([]byte, packed)
	if _, err := in.ReadAt(data, at); err != nil {
		return err
	}
	var h zstd.Header
	if err := h.Decode(data); err != nil || h.Skippable || h.DictionaryID != 0 || h.HasFCS && h.FrameContentSize != uint64(plain) {
		return foreign("what is packed in a page of the column %s is not %d bytes", c.name, plain)
	}
	blocks, rest, err := skipBlocks(data[h.HeaderSize:])
	if err != nil {
		return foreign("a page of the column %s: %v", c.name, err)
	}
	if !h.HasFCS && blocks > maxPage/maxBlock {
		return foreign("a page of the column %s unpacks to an unknown size", c.name)
	}
	if h.HasCheckSum {
		rest = rest[min(4, len(rest)):]
	}
	if len(rest) > 0 {
		return foreign("a page of the column %s is packed twice", c.name)
	}
	return nil
}

// skipBlocks goes through the blocks of a frame, and returns their number and what stands
// behind them.
func skipBlocks(data []byte) (blocks int, rest []byte, err error) {
	for last := false; !last; blocks++ {
		if len(data) < 3 {
			return 0, nil, io.ErrUnexpectedEOF
		}
		head := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16
		last = head&1 == 1
		n := int(head >> 3)
		if n > maxBlock {
			return 0, nil, errSizes
		}
		if kind := head >> 1 & 3; kind == 1 { // one byte, many times
			n = 1
		}
		if data = data[3:]; n > len(data) {
			return 0, nil, io.ErrUnexpectedEOF
		}
		data = data[n:]
	}
	return blocks, data, nil
}

// decode reads a structure of Parquet's after its sizes were looked at.
func decode(text []byte, into any) error {
	n, err := skim(text)
	if err != nil {
		return err
	}
	var p thrift.CompactProtocol
	return thrift.NewDecoder(p.NewReaderFromBytes(text[:n])).Decode(into)
}

// skim goes through a structure in Thrift's compact form and returns its length. A list
// that says it has more elements than there are bytes, or than is usual, is an error: the
// decoder makes room for what a list says.
func skim(text []byte) (int, error) {
	s := skimmer{rest: text, left: maxElements}
	if err := s.structure(0); err != nil {
		return 0, err
	}
	return len(text) - len(s.rest), nil
}

type skimmer struct {
	rest []byte
	left int // elements that lists may still have
}

// Types of the compact form.
const (
	typeTrue = iota + 1
	typeFalse
	typeByte
	typeI16
	typeI32
	typeI64
	typeDouble
	typeBinary
	typeList
	typeSet
	typeMap
	typeStruct
)

var errSizes = errors.New("it says that it holds more than it can")

func (s *skimmer) structure(depth int) error {
	if depth > maxDepth {
		return errors.New("it is nested too deeply")
	}
	for {
		b, err := s.skip(1)
		if err != nil || b[0] == 0 {
			return err
		}
		if b[0]>>4 == 0 { // the number of the field stands apart
			if _, err := s.varint(); err != nil {
				return err
			}
		}
		if kind := b[0] & 15; kind != typeTrue && kind != typeFalse {
			if err := s.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (s *skimmer) value(kind byte, depth int) error {
	switch kind {
	case typeTrue, typeFalse, typeByte:
		_, err := s.skip(1)
		return err
	case typeI16, typeI32, typeI64:
		_, err := s.varint()
		return err
	case typeDouble:
		_, err := s.skip(8)
		return err
	case typeBinary:
		n, err := s.varint()
		if err == nil {
			_, err = s.skip(n)
		}
		return err
	case typeList, typeSet:
		return s.list(depth)
	case typeStruct:
		return s.structure(depth + 1)
	}
	return errors.New("it holds a type that Parquet's structures do not have")
}

func (s *skimmer) list(depth int) error {
	b, err := s.skip(1)
	if err != nil {
		return err
	}
	n := uint64(b[0] >> 4)
	if n == 15 {
		if n, err = s.varint(); err != nil {
			return err
		}
	}
	if n > uint64(s.left) {
		return errSizes
	}
	s.left -= int(n)
	for range n {
		if err := s.value(b[0]&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *skimmer) skip(n uint64) ([]byte, error) {
	if n > maxFooter {
		return nil, errSizes
	}
	if n > uint64(len(s.rest)) {
		return nil, io.ErrUnexpectedEOF
	}
	out := s.rest[:n]
	s.rest = s.rest[n:]
	return out, nil
}

func (s *skimmer) varint() (uint64, error) {
	v, n := binary.Uvarint(s.rest)
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if n < 0 {
		return 0, errSizes
	}
	s.rest = s.rest[n:]
	return v, nil
}

package acs

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

const maxConfig = 1 << 20

// ReadKeys reads the keys that a file names. It and the files of the secrets must be this
// account's alone.
//
//	{"keys": [{"id": "default", "secretFile": "acs.secret", "encoding": "text", "agents": ["claude-code:*"], "asks": true, "modifies": true}]}
//
// encoding says how the file's text stands for bytes: text (as it is, less white space at
// its end), hex or base64. asks is false unless it is said, modifies true.
func ReadKeys(file string) ([]Key, error) {
	data, err := readPrivate(file)
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	list, ok := doc["keys"].([]any)
	if !ok || len(doc) != 1 {
		return nil, fmt.Errorf(`%s: an object with nothing but "keys", a list, is wanted`, file)
	}
	var keys []Key
	for i, v := range list {
		k, err := readKey(filepath.Dir(file), v)
		if err != nil {
			return nil, fmt.Errorf("%s: keys[%d]: %w", file, i, err)
		}
		keys = append(keys, k)
	}
	if err := checkKeys(keys); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

func readKey(dir string, v any) (Key, error) {
	doc, ok := v.(map[string]any)
	if !ok {
		return Key{}, errors.New("an object is wanted")
	}
	var k Key
	var file string
	encoding := "text"
	for name, v := range doc {
		switch name {
		case "id":
			k.ID, ok = v.(string)
		case "secretFile":
			file, ok = v.(string)
		case "encoding":
			encoding, ok = v.(string)
		case "asks":
			k.Asks, ok = v.(bool)
		case "modifies":
			var modifies bool
			modifies, ok = v.(bool)
			k.Fixed = !modifies
		case "agents":
			k.Agents = strictjson.Texts(v)
			list, is := v.([]any)
			ok = is && len(list) > 0 && len(list) == len(k.Agents)
		default:
			return k, errors.New("no key has " + strictjson.Quoted(name))
		}
		if !ok {
			return k, fmt.Errorf("%s: %s where another type is wanted", name, strictjson.TypeName(v))
		}
	}
	if file == "" {
		return k, errors.New("secretFile is missing")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	data, err := readPrivate(file)
	if err == nil {
		k.Secret, err = secretOf(data, encoding)
	}
	if err != nil {
		return k, err
	}
	return k, nil
}

// secretOf reads the bytes of a secret.
func secretOf(data []byte, encoding string) (secret []byte, err error) {
	data = bytes.TrimRight(data, " \t\r\n\v\f")
	switch encoding {
	case "text":
		return data, nil
	case "hex":
		secret, err = hex.DecodeString(string(data))
	case "base64":
		secret, err = base64.StdEncoding.DecodeString(string(data))
	default:
		return nil, errors.New("encoding: one of text, hex and base64 is wanted")
	}
	if err != nil {
		return nil, fmt.Errorf("the secret is no %s", encoding)
	}
	return secret, nil
}

// readPrivate reads a file of this account's alone.
func readPrivate(file string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := hostfs.ReadFile(root, filepath.Base(file), maxConfig)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return data, nil
}

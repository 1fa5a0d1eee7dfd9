package bundles

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	sealeds "gate/internal/sealed"
)

// forge changes OPA's signature.
func (a *attack) forge(word string, rest []string) {
	a.edit(func(files map[string][]byte) {
		files[sealeds.SignaturesFile] = changed(a.t, files[sealeds.SignaturesFile], func(doc map[string]any) {
			token := doc["signatures"].([]any)[0].(string)
			parts := strings.Split(token, ".")
			head := func(key, value string) {
				data, _ := sealeds.Base64url().DecodeString(parts[0])
				parts[0] = sealeds.Base64url().EncodeToString(changed(a.t, data, func(h map[string]any) { h[key] = value }))
			}
			switch word {
			case "signatures-key":
				doc[rest[0]] = rest[1]
			case "jwt-part":
				n, _ := strconv.Atoi(rest[0])
				parts[n] = rest[1]
			case "jwt-cut":
				n, _ := strconv.Atoi(rest[0])
				parts[2] = parts[2][:n]
			case "jwt-header":
				head(rest[0], rest[1])
			case "jwt-hmac":
				head("alg", "HS256")
				public, _ := sealeds.PublicPEM(a.ring.set.Keys[rest[0]].Public)
				mac := hmac.New(sha256.New, []byte(public))
				mac.Write([]byte(parts[0] + "." + parts[1]))
				parts[2] = sealeds.Base64url().EncodeToString(mac.Sum(nil))
			case "jwt-twice":
				doc["signatures"] = []any{token, token + "A"}
				return
			}
			doc["signatures"] = []any{strings.Join(parts, ".")}
		})
	})
}

func (a *attack) forgeEnvelope(word string, rest []string) {
	if word == "envelope-text" {
		a.envelope = []byte(rest[0])
		return
	}
	a.envelope = changed(a.t, a.envelope, func(doc map[string]any) {
		list := doc["signatures"].([]any)
		switch word {
		case "envelope-without":
			left := []any{}
			for _, s := range list {
				if s.(map[string]any)["key"] != rest[0] {
					left = append(left, s)
				}
			}
			doc["signatures"] = left
		case "envelope-rename":
			list[0].(map[string]any)["key"] = rest[1]
		case "envelope-repeat":
			doc["signatures"] = append(list, maps.Clone(list[0].(map[string]any)))
		case "envelope-set":
			var value any = rest[1]
			if _, err := strconv.Atoi(rest[1]); err == nil {
				value = json.Number(rest[1])
			}
			doc["signed"].(map[string]any)[rest[0]] = value
		default:
			a.t.Fatalf("unknown step %s", word)
		}
	})
}

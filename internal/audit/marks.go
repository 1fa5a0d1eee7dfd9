package audit

import (
	"gate/internal/mark"
	"gate/internal/strictjson"
)

// maxMarkBytes bounds the marks of a record in bytes of their names and values.
const maxMarkBytes = 16 << 10

// marksPointer is where the marks stand that the session had.
const marksPointer = "/custom/gate/marks"

// within returns the first of the marks that there is room for, and their size.
func within(all []mark.Mark) (some []mark.Mark, bytes int) {
	n, room := 0, maxMarkBytes
	for _, k := range all {
		size := len(k.Source) + len(k.Name) + len(k.Value)
		bytes += size
		if room -= size; room >= 0 {
			n++
		}
	}
	return all[:n], bytes
}

// writeMarks writes marks, without their values where the event is not kept.
func writeMarks(w *strictjson.Writer, key string, all []mark.Mark, values bool) {
	if len(all) == 0 {
		return
	}
	w.Key(key).List()
	for _, k := range all {
		w.Object()
		if k.By != "" {
			w.Key("by").Text(clip(k.By, maxText))
		}
		w.Key("for").Text(k.For())
		w.Key("mark").Text(clip(k.Name, maxText))
		if k.Policy {
			w.Key("policy_scope").Value(true)
		}
		w.Key("source").Text(clip(k.Source, maxText))
		if k.Trial {
			w.Key("trial").Value(true)
		}
		if values {
			w.Key("value").Written([]byte(k.Value))
		}
		w.EndObject()
	}
	w.EndList()
}

func (f fields) marks(key string) (all []mark.Mark) {
	for _, m := range f.objects(key) {
		k := mark.Mark{Name: m.text("mark"), Source: m.text("source"), By: m.text("by"), Round: m.text("for") == mark.Round}
		k.Policy, k.Trial = m["policy_scope"] == true, m["trial"] == true
		if v, ok := m["value"]; ok {
			k.Value = string(strictjson.Append(nil, v))
		}
		all = append(all, k)
	}
	return all
}

package program

import "gate/facts/internal/flow"

// patchText judges the patch that apply_patch gets as a word or as its input:
// agents take such a command of a shell for a call of their own tool.
func (u *use) patchText() {
	texts := u.rest
	if len(texts) == 0 && u.Stdin.Some {
		if u.Stdin.Text == nil {
			u.unknown("code", "a patch that comes from a pipe", nil)
			return
		}
		texts = []flow.Word{flow.Literal(*u.Stdin.Text)}
	}
	for _, f := range texts {
		text := f.Value()
		if text == nil {
			u.unknown("code", "a patch that only shows when it runs", nil)
			continue
		}
		u.Patch(*u.at(), u.ID, *text)
	}
}

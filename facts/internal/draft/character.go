package draft

import "unicode/utf8"

// Misleads returns where an invisible or misleading character stands in a text.
// Characters that belong to a sign before them are none: the selector and the joiner
// of an emoji, the letters of a flag, the joiners of scripts that need them.
func Misleads(text string) (at int, found bool) {
	before, flag := rune(0), 0 // flag counts the letters after a black flag, from 1
	for i, r := range text {
		if r < utf8.RuneSelf {
			before, flag = r, 0
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:]) // one byte for what is no UTF-8
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		switch {
		case r == 0x1F3F4:
			flag = 1
		case flag > 0 && flag < 8 && (0xE0061 <= r && r <= 0xE007A || 0xE0030 <= r && r <= 0xE0039 || r == 0xE007F):
			flag++
		case selector(r):
			if !selects(before, r, next) {
				return i, true
			}
		case r == 0x200D && symbol(before) && symbol(next), // one emoji of several
			(r == 0x200C || r == 0x200D) && joins(before) && joins(next):
		case Invisible(r):
			return i, true
		}
		before = r
	}
	return 0, false
}

// Invisible reports blanks that are no blanks to the shell, characters without width
// and those that change the direction.
func Invisible(r rune) bool {
	switch {
	case r == 0x85, r == 0xA0, r == 0xAD, r == 0x34F, r == 0x61C, r == 0x115F, r == 0x1160, r == 0x1680, r == 0x180E, r == 0x3000, r == 0x3164, r == 0xFEFF, r == 0xFFA0,
		0x2000 <= r && r <= 0x200F, 0x2028 <= r && r <= 0x202F, 0x205F <= r && r <= 0x206F, 0xFFF9 <= r && r <= 0xFFFB, 0xE0000 <= r && r <= 0xE007F:
		return true
	}
	return selector(r)
}

// selector reports a character that picks a form of the one before it.
func selector(r rune) bool {
	return 0xFE00 <= r && r <= 0xFE0F || 0xE0100 <= r && r <= 0xE01EF
}

// selects reports a sign that has forms to pick from. Of ASCII only the digits do, as
// keycaps; the many selectors above U+E0100 are for ideographs.
func selects(before, selector, next rune) bool {
	switch {
	case selector >= 0xE0100:
		return 0x3400 <= before && before <= 0x9FFF || 0xF900 <= before && before <= 0xFAFF || 0x20000 <= before && before <= 0x3FFFF
	case before < utf8.RuneSelf:
		return selector == 0xFE0F && next == 0x20E3
	}
	return !Invisible(before)
}

// symbol reports a sign that an emoji is made of, by the blocks of such signs.
func symbol(r rune) bool {
	return 0x2190 <= r && r <= 0x2BFF || 0x1F000 <= r && r <= 0x1FAFF || r == 0xFE0F
}

// joins reports a letter of a script whose letters join: from Arabic to Mongolian.
func joins(r rune) bool { return 0x600 <= r && r < 0x1900 || 0xFB50 <= r && r < 0xFE00 }

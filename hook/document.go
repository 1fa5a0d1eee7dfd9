package hook

// Document returns the facts as the JSON tree that policies see.
// The receiver may be nil: an event that nobody looked into has empty facts.
func (f *Facts) Document() map[string]any {
	if f == nil {
		f = &Facts{}
	}
	return Tree(f)
}

// flow is the document of Flow. The receiver may be nil.
func (f *Facts) flow() []any {
	if f == nil {
		return []any{}
	}
	out := make([]any, len(f.Flow))
	for i := range out {
		out[i] = Tree(&f.Flow[i])
	}
	return out
}

// Tree returns an object as the document has it.
func Tree(o FactObject) map[string]any {
	doc := map[string]any{}
	for name, at := range Members(o) {
		doc[name] = Plain(at)
	}
	return doc
}

// Plain returns what a field keeps as the document has it. Lists are copies, as
// far as it has to make them.
func Plain(at any) any {
	if s, ok := FactText(at); ok {
		if s == nil {
			return nil
		}
		return *s
	}
	switch at := at.(type) {
	case *bool:
		return *at
	case **bool:
		if *at == nil {
			return nil
		}
		return **at
	case *int:
		return *at
	case *NumberOrNull:
		if *at == 0 {
			return nil
		}
		return int(*at)
	case *Version:
		return FactsSchema
	case **Span:
		if *at == nil {
			return nil
		}
		return []any{(*at)[0], (*at)[1]}
	case *any:
		return *at
	case *[]string:
		return plainList(*at, func(s string) any { return s })
	case *[]*string:
		return plainList(*at, plainText)
	case *map[string]*string:
		return plainMap(*at, plainText)
	case *map[string][]any:
		return plainMap(*at, func(v []any) any { return v })
	case FactList:
		out := make([]any, at.Len())
		for i := range out {
			out[i] = Tree(at.At(i))
		}
		return out
	case FactPart:
		if o := at.Get(); o != nil {
			return Tree(o)
		}
	}
	return nil
}

func plainText(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func plainList[T any](list []T, plain func(T) any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = plain(e)
	}
	return out
}

func plainMap[T any](m map[string]T, plain func(T) any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = plain(v)
	}
	return out
}

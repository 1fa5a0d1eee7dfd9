package facts

func perlLanguage() *codeLanguage { return nil }

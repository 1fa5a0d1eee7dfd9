package facts

func awkLanguage() *codeLanguage { return nil }

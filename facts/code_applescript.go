package facts

func applescriptLanguage() *codeLanguage { return nil }

package facts

func phpLanguage() *codeLanguage { return nil }

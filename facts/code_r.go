package facts

func rLanguage() *codeLanguage { return nil }

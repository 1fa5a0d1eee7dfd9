package facts

func tclLanguage() *codeLanguage { return nil }

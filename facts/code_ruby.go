package facts

func rubyLanguage() *codeLanguage { return nil }

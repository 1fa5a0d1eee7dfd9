package facts

func luaLanguage() *codeLanguage { return nil }

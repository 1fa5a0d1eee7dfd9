package seen

import (
	"strings"

	"gate/internal/wordlist"
)

// known are packages that everybody knows: those whose names others take, and those whose
// names only look taken.
const known = " react react-dom preact vue svelte angular solid-js next nuxt express fastify koa hapi axios lodash underscore moment dayjs luxon date-fns chalk commander yargs dotenv dotenvx cross-env " +
	"typescript webpack rollup esbuild vite vitest jest mocha chai sinon cypress playwright puppeteer eslint prettier babel tailwindcss bootstrap jquery three redux zustand mobx rxjs graphql prisma sequelize typeorm " +
	"mongoose mongodb redis ioredis pg mysql mysql2 sqlite3 better-sqlite3 bcrypt bcryptjs jsonwebtoken passport socket.io ws uuid nanoid zod yup joi ajv sharp multer nodemailer winston pino debug request node-fetch got superagent " +
	"cheerio electron discord.js ethers web3 colors glob fast-glob rimraf semver minimist body-parser cors helmet morgan nodemon pm2 openapi storybook handlebars " +
	"requests numpy pandas scipy matplotlib seaborn plotly scikit-learn tensorflow torch pytorch keras django djongo flask fastapi starlette uvicorn gunicorn celery sqlalchemy alembic pydantic pytest tox black ruff mypy pylint flake8 typer rich tqdm " +
	"jinja2 pyyaml toml lxml beautifulsoup4 selenium scrapy httpx aiohttp urllib3 cryptography paramiko boto3 botocore psycopg2 psycopg pymongo openpyxl xlsxwriter xlrd pillow opencv-python pyarrow polars dask numba cython " +
	"jsonschema ujson orjson simplejson python-dateutil pytz arrow pendulum colorama setuptools virtualenv poetry streamlit gradio openai anthropic transformers langchain spacy nltk pdfminer pypdf reportlab " +
	"serde tokio reqwest clap anyhow thiserror hyper axum actix-web rayon chrono tracing diesel sqlx rails rake rspec devise sidekiq puma nokogiri faraday sinatra safe-regex safe-regex2 "

// promises are words that a name gets which wants to be taken for a better one.
const promises = " fast faster fastest speed speedup speedy turbo rapid boost boosted lightning pro plus premium ultra super hyper secure hardened fixed fix fixes patched patch updated latest modern official original genuine shim compat " +
	"compatible enhanced improved optimized supercharged "

// alike reports a name that is made of the name of a package that everybody knows, or that a prompt
// has, and nothing but promises (openpyxl-fast2, @compat/react19-shim), or that is one letter off.
func (c *content) alike(name string) bool {
	if name[0] == '@' {
		_, name, _ = strings.Cut(name, "/")
	}
	name = strings.ReplaceAll(name, "_", "-")
	if name == "" || strings.ContainsAny(name, "/:") || wordlist.Has(known, name) {
		return false
	}
	if bare := strings.TrimRight(name, "0123456789"); bare != name && len(bare) > 4 && wordlist.Has(known, bare) {
		return true
	}
	if oneOff(name) {
		return true
	}
	words := strings.Split(name, "-")
	if last := len(words) - 1; last > 0 && wordlist.Has(known, words[0]) && mends(words[last]) {
		return true
	}
	rest := words[:0:0]
	for _, w := range words {
		if !wordlist.Has(promises, strings.TrimRight(w, "0123456789")) && strings.Trim(w, "v0123456789") != "" {
			rest = append(rest, w)
		}
	}
	if len(rest) == 0 || len(rest) == len(words) {
		return false
	}
	base := strings.Join(rest, "-")
	for _, b := range []string{base, strings.TrimRight(base, "0123456789"), strings.TrimPrefix(base, "py"), strings.TrimPrefix(base, "python-"), strings.TrimPrefix(base, "node-")} {
		if wordlist.Has(known, b) || len(b) > 4 && len(rest) == 1 && c.named([]string{inPrompt}, b) {
			return true
		}
	}
	return false
}

// mends reports a word that is made of a promise to mend something: parserfix.
func mends(word string) bool {
	for _, end := range [...]string{"fix", "fixed", "patch", "patched", "shim", "compat"} {
		if base := strings.TrimSuffix(word, end); base != word && len(base) > 2 && !strings.HasSuffix(base, "pre") && !strings.HasSuffix(base, "suf") && base != "auto" && base != "post" {
			return true
		}
	}
	return false
}

// leastOff is how long a name is that one letter can be off: of short ones most are taken.
const leastOff = 6

// oneOff reports a name that differs by one letter from one that everybody knows: another,
// a missing, an added one, or two that changed places. A plural is a name of its own.
func oneOff(name string) bool {
	if len(name) < leastOff {
		return false
	}
	for _, k := range strings.Fields(known) {
		if len(k) >= leastOff && k+"s" != name && name+"s" != k && isOneOff(name, k) {
			return true
		}
	}
	return false
}

func isOneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i+1 <= len(a) && (a[i+1:] == b[i+1:] || i+2 <= len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
}

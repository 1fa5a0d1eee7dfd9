// Reads an archive of gate collect with DuckDB: read.mjs DIR RECORDS MACHINES.
// Each statement of docs/archive.md that is marked as tried is run as it stands there.
import { DuckDBInstance } from "@duckdb/node-api";
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const [dir, records, machines, page] = process.argv.slice(2);
const db = await (await DuckDBInstance.create(":memory:")).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const from = `read_parquet('${dir}/day=*/part-*.parquet', hive_partitioning = true)`;
await db.run(`CREATE VIEW records AS SELECT * FROM ${from}`);

const [all] = await rows(`SELECT count(*) AS n, count(DISTINCT machine) AS machines, count(DISTINCT day) AS days FROM records`);
assert.deepEqual(all, { n: records, machines, days: "5" });

const [meta] = await rows(`SELECT count(*) AS files, count(DISTINCT decode(value)) AS versions, max(decode(value)) AS version FROM parquet_kv_metadata('${dir}/day=*/part-*.parquet') WHERE decode(key) = 'gate.archive'`);
assert.deepEqual(meta, { files: "5", versions: "1", version: "1" });

// The columns and types are those of the page.
const table = [...readFileSync(page, "utf8").matchAll(/^\| `(\w+)` \| (VARCHAR|BIGINT|TIMESTAMP WITH TIME ZONE) \|/gm)].map((m) => [m[1], m[2]]);
const columns = (await rows(`DESCRIBE SELECT * EXCLUDE (day) FROM records`)).map((c) => [c.column_name, c.column_type]);
assert.equal(columns.length, 21);
assert.deepEqual(columns, table);

// No key is there twice, and within a day each record has the digest of the one before.
const [keys] = await rows(`SELECT count(*) - count(DISTINCT (day, machine, log, seq)) AS twice FROM records`);
assert.equal(keys.twice, "0");
const [chain] = await rows(`SELECT count(*) AS broken FROM (SELECT prev, lag(digest) OVER (PARTITION BY day, machine, log ORDER BY seq) AS before FROM records) WHERE before IS NOT NULL AND prev <> before`);
assert.equal(chain.broken, "0");

// The body is the record: it says the same as the columns.
const [body] = await rows(`SELECT count(*) AS other FROM records WHERE (body->>'$.result.effect') <> effect OR (body->>'$.custom.gate.tool') <> tool OR (body->>'$.custom.gate.chain.seq')::BIGINT <> seq OR date_trunc('millisecond', (body->>'$.timestamp')::TIMESTAMPTZ) <> date_trunc('millisecond', "at")`);
assert.equal(body.other, "0");

let tried = 0;
for (const [, sql] of readFileSync(page, "utf8").matchAll(/```sql duckdb\n([^]*?)```/g)) {
  const got = await rows(sql.replaceAll("/srv/gate/archive", dir));
  assert.ok(got.length > 0, sql);
  tried++;
}
assert.ok(tried >= 3, `only ${tried} statements of ${page} were tried`);
console.log(`DuckDB ${(await rows("SELECT version() AS v"))[0].v}: ${records} records of ${machines} machines, ${tried} statements of the page`);

/** Version of the tables; a file says it in `meta`. */
export const REPLAY_VERSION = 1

/** Tables, one row for each message of the log. Times are milliseconds since the epoch. */
export const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  tenant TEXT NOT NULL,
  side TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  kind TEXT NOT NULL,
  uid TEXT NOT NULL,
  resource_version TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  observed_at REAL NOT NULL,
  owner TEXT,
  trace_id TEXT,
  object TEXT NOT NULL
) STRICT;

CREATE TABLE intents (
  seq INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  tenant TEXT NOT NULL,
  side TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  op TEXT NOT NULL,
  rule TEXT NOT NULL,
  source_resource TEXT NOT NULL,
  source_namespace TEXT NOT NULL,
  source_name TEXT NOT NULL,
  cause_seq INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  observed_at REAL NOT NULL,
  logged_at REAL NOT NULL,
  decided_at REAL NOT NULL,
  translator TEXT,
  trace_id TEXT,
  write TEXT NOT NULL
) STRICT;

CREATE TABLE outcomes (
  seq INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  tenant TEXT NOT NULL,
  side TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  intent_id TEXT NOT NULL,
  op TEXT NOT NULL,
  result TEXT NOT NULL,
  reason TEXT,
  message TEXT,
  uid TEXT,
  resource_version TEXT,
  cause_seq INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  observed_at REAL NOT NULL,
  logged_at REAL NOT NULL,
  decided_at REAL NOT NULL,
  intent_at REAL NOT NULL,
  started_at REAL NOT NULL,
  finished_at REAL NOT NULL,
  trace_id TEXT
) STRICT;

CREATE TABLE unreadable (
  stream TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at REAL NOT NULL,
  subject TEXT NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (stream, seq)
) STRICT;

CREATE TABLE decisions (
  origin TEXT NOT NULL,
  tenant TEXT NOT NULL,
  side TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  op TEXT NOT NULL,
  digest TEXT NOT NULL,
  cause_seq INTEGER NOT NULL,
  rule TEXT NOT NULL,
  write TEXT NOT NULL,
  PRIMARY KEY (origin, tenant, side, resource, namespace, name, op, digest)
) STRICT, WITHOUT ROWID;
`

/** Needed before the others where decisions are compared. */
export const CAUSE_INDEX = 'CREATE INDEX IF NOT EXISTS intents_by_cause ON intents (cause_seq);'

/** Made when all rows are there: an index that is kept up row by row costs several times as much. */
export const INDEXES = `
CREATE INDEX changes_by_key ON changes (tenant, side, resource, namespace, name, seq);
CREATE INDEX intents_by_key ON intents (tenant, side, resource, namespace, name, seq);
${CAUSE_INDEX}
CREATE INDEX outcomes_by_key ON outcomes (tenant, side, resource, namespace, name, seq);
CREATE INDEX outcomes_by_intent ON outcomes (intent_id);
`

/** A view for each question that is asked often; docs/replay.md says what they answer. */
export const VIEWS: Readonly<Record<string, string>> = {
  objects: `
    SELECT c.* FROM changes c
    WHERE c.type IN ('ADDED', 'MODIFIED') AND c.seq = (
      SELECT max(l.seq) FROM changes l
      WHERE l.tenant = c.tenant AND l.side = c.side AND l.resource = c.resource
        AND l.namespace = c.namespace AND l.name = c.name)`,
  deleted: `
    SELECT c.seq, c.at, c.tenant, c.side, c.resource, c.namespace, c.name, c.uid,
      (SELECT i.rule FROM intents i JOIN outcomes o ON o.intent_id = i.id
       WHERE i.op = 'delete' AND o.result = 'done' AND i.tenant = c.tenant AND i.side = c.side
         AND i.resource = c.resource AND i.namespace = c.namespace AND i.name = c.name AND i.at <= c.at + 60000
       ORDER BY i.seq DESC LIMIT 1) AS deleted_by_rule
    FROM changes c WHERE c.type = 'DELETED' ORDER BY c.seq DESC`,
  slowest_syncs: `
    SELECT finished_at - observed_at AS total_ms,
      logged_at - observed_at AS watch_ms, decided_at - logged_at AS translate_ms, intent_at - decided_at AS log_ms,
      started_at - intent_at AS queue_ms, finished_at - started_at AS api_ms,
      tenant, side, resource, namespace, name, op, result, at, seq, intent_id
    FROM outcomes WHERE result = 'done' ORDER BY total_ms DESC`,
  most_rewritten: `
    SELECT tenant, side, resource, namespace, name, count(*) AS writes, count(DISTINCT rule) AS rules,
      min(at) AS first_at, max(at) AS last_at
    FROM intents GROUP BY tenant, side, resource, namespace, name ORDER BY writes DESC`,
  ping_pong: `
    WITH states AS (
      SELECT seq, at, tenant, side, resource, namespace, name,
        json_remove(object, '$.metadata.resourceVersion', '$.metadata.managedFields', '$.metadata.generation') AS state
      FROM changes WHERE type = 'MODIFIED'),
    steps AS (
      SELECT *, lag(state) OVER key AS before, lag(state, 2) OVER key AS earlier FROM states
      WINDOW key AS (PARTITION BY tenant, side, resource, namespace, name ORDER BY seq))
    SELECT tenant, side, resource, namespace, name, count(*) AS returns, min(at) AS first_at, max(at) AS last_at
    FROM steps WHERE state = earlier AND state <> before
    GROUP BY tenant, side, resource, namespace, name HAVING count(*) >= 3 ORDER BY returns DESC`,
  waiting: `
    SELECT o.tenant, o.side, o.resource, o.namespace, o.name, o.op, o.reason, o.message, o.attempt, o.at, o.intent_id
    FROM outcomes o
    WHERE o.result IN ('parked', 'refused') AND o.seq = (
      SELECT max(l.seq) FROM outcomes l
      WHERE l.tenant = o.tenant AND l.side = o.side AND l.resource = o.resource
        AND l.namespace = o.namespace AND l.name = o.name)
    ORDER BY o.at`,
  unanswered: `
    SELECT i.seq, i.at, i.tenant, i.side, i.resource, i.namespace, i.name, i.op, i.rule, i.id
    FROM intents i WHERE NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.intent_id = i.id) ORDER BY i.seq`,
  // A write that only one of the two decided, unless both come to the same in the end: what was decided for several
  // changes at once then is decided one by one here.
  translation_differs: `
    WITH last AS (
      SELECT origin, tenant, side, resource, namespace, name, op, digest, max(cause_seq) AS seq
      FROM decisions GROUP BY origin, tenant, side, resource, namespace, name, op)
    SELECT d.origin AS only_by, d.tenant, d.side, d.resource, d.namespace, d.name, d.op, d.rule, d.cause_seq, d.write
    FROM decisions d
    WHERE NOT EXISTS (
      SELECT 1 FROM decisions o WHERE o.origin <> d.origin AND o.tenant = d.tenant AND o.side = d.side
        AND o.resource = d.resource AND o.namespace = d.namespace AND o.name = d.name AND o.op = d.op
        AND o.digest = d.digest)
    AND NOT EXISTS (
      SELECT 1 FROM last a JOIN last b USING (tenant, side, resource, namespace, name, op, digest)
      WHERE a.origin = 'log' AND b.origin = 'today' AND a.tenant = d.tenant AND a.side = d.side
        AND a.resource = d.resource AND a.namespace = d.namespace AND a.name = d.name AND a.op = d.op)
    ORDER BY d.tenant, d.cause_seq`,
}

/** Version of the tables. A file of another version is set aside and built again from the log. */
export const SCHEMA_VERSION = 7

/**
 * Objects of both sides keyed as in the log (those that are gone have no body, see tombstones.ts), who refers to whom (virtual objects), what is under way per target, keys
 * that wait, which host objects were made as copies, deletions that are counted (vanished-table.ts), and how far the log is folded in.
 */
export const SCHEMA = `
CREATE TABLE objects (
  tenant TEXT NOT NULL, side TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  uid TEXT NOT NULL,
  rv TEXT NOT NULL,
  seq INTEGER NOT NULL,
  virtual_uid TEXT,
  gone_at REAL,
  body TEXT,
  PRIMARY KEY (tenant, side, resource, namespace, name)
) WITHOUT ROWID;
CREATE INDEX objects_gone ON objects (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE refs (
  tenant TEXT NOT NULL,
  from_resource TEXT NOT NULL, from_namespace TEXT NOT NULL, from_name TEXT NOT NULL,
  to_resource TEXT NOT NULL, to_namespace TEXT NOT NULL, to_name TEXT NOT NULL,
  PRIMARY KEY (tenant, from_resource, from_namespace, from_name, to_resource, to_namespace, to_name)
) WITHOUT ROWID;
CREATE INDEX refs_to ON refs (to_resource, to_namespace, to_name, tenant);

CREATE TABLE synced (
  tenant TEXT NOT NULL, side TEXT NOT NULL, resource TEXT NOT NULL, epoch INTEGER NOT NULL,
  PRIMARY KEY (tenant, side, resource)
) WITHOUT ROWID;

CREATE TABLE bases (
  tenant TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  base TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (tenant, resource, namespace, name)
) WITHOUT ROWID;

CREATE TABLE copies (
  tenant TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  uid TEXT NOT NULL,
  of_resource TEXT NOT NULL, of_namespace TEXT NOT NULL, of_name TEXT NOT NULL,
  virtual_uid TEXT,
  PRIMARY KEY (tenant, resource, namespace, name)
) WITHOUT ROWID;

CREATE TABLE pending (
  tenant TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  slot TEXT NOT NULL,
  intent_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT, message TEXT,
  result_rv TEXT,
  carries_base INTEGER NOT NULL,
  since REAL NOT NULL,
  due REAL,
  PRIMARY KEY (tenant, resource, namespace, name, slot)
) WITHOUT ROWID;
CREATE INDEX pending_due ON pending (due) WHERE due IS NOT NULL;
CREATE INDEX pending_reason ON pending (tenant, reason) WHERE reason IS NOT NULL;

CREATE TABLE vanished (
  tenant TEXT NOT NULL, side TEXT NOT NULL,
  resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  weight INTEGER NOT NULL,
  until REAL NOT NULL,
  PRIMARY KEY (tenant, side, resource, namespace, name)
) WITHOUT ROWID;

CREATE TABLE tenants (name TEXT PRIMARY KEY, uid TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`

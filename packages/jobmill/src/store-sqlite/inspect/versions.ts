/** The versions that instances declared, and which instances ran them. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { TransferredVersion } from '../../store/admin/transfer.ts'
import type { VersionRecord } from '../../store/types/instance.ts'
import type { Sql } from '../connection/handle.ts'
import type { Look } from '../work.ts'

/** Each lookup uses a unique index. */
export const versionOf = (instance: string): string => `coalesce(
    (SELECT i.version FROM jobmill_instance AS i WHERE i.id = ${instance}),
    (SELECT p.version FROM jobmill_past_instance AS p WHERE p.id = ${instance}))`

/** The ids of the instances with one of these versions: a JSON array, bound twice. */
export const INSTANCES_OF = `
  SELECT i.id FROM jobmill_instance AS i WHERE i.version IN (SELECT value FROM json_each(?))
  UNION ALL SELECT p.id FROM jobmill_past_instance AS p WHERE p.version IN (SELECT value FROM json_each(?))`

// Both tables are small; retention limits the second one. An instance that came back is in both.
const VERSIONS = `
  SELECT version, min(started_at) AS firstAt, max(seen_at) AS lastAt, count(*) AS instances, sum(alive) AS alive
  FROM (
    SELECT version, started_at, state = 0 AND expires_at > now AS alive,
      iif(state = 0, iif(expires_at > now, now, renewed_at), ended_at) AS seen_at
    FROM (SELECT ? AS now) CROSS JOIN jobmill_instance WHERE version IS NOT NULL
    UNION ALL
    SELECT version, started_at, 0, ended_at FROM jobmill_past_instance AS p
    WHERE NOT EXISTS (SELECT 1 FROM jobmill_instance AS i WHERE i.id = p.id))
  GROUP BY version`

const MOST = 100

export function versions({ sql, now }: Look): VersionRecord[] {
  return (sql(VERSIONS).all(now) as VersionRecord[])
    .toSorted((a, b) => b.firstAt - a.firstAt || (a.version < b.version ? 1 : -1))
    .slice(0, MOST)
}

/** Remembers the versions of the instances that `rows` selects, before their rows are deleted. */
export function rememberVersions(sql: Sql, rows: string, ...values: readonly number[]): void {
  sql(`INSERT OR REPLACE INTO jobmill_past_instance (id, version, started_at, ended_at)
    SELECT i.id, i.version, i.started_at, i.ended_at FROM jobmill_instance AS i
    WHERE i.version IS NOT NULL AND i.pk IN (SELECT pk FROM ${rows})`).run(...values)
}

// Uses jobmill_past_instance_ended.
const SURPLUS = `
  DELETE FROM jobmill_past_instance WHERE ended_at <= (
    SELECT ended_at FROM jobmill_past_instance ORDER BY ended_at DESC LIMIT 1 OFFSET ${DEFAULTS.keepVersions})`

/** Keeps the versions of the instances that ended last. */
export function dropSurplusVersions(sql: Sql): void {
  sql(SURPLUS).run()
}

const OUT = `
  SELECT id AS instance, version, started_at AS startedAt, coalesce(ended_at, renewed_at) AS endedAt
  FROM jobmill_instance WHERE version IS NOT NULL
  UNION ALL
  SELECT id, version, started_at, ended_at FROM jobmill_past_instance AS p
  WHERE NOT EXISTS (SELECT 1 FROM jobmill_instance AS i WHERE i.id = p.id)`
const IN = `
  INSERT OR IGNORE INTO jobmill_past_instance (id, version, started_at, ended_at) VALUES (?, ?, ?, ?)`

export function versionsOut(sql: Sql): TransferredVersion[] {
  return (sql(OUT).all() as TransferredVersion[]).toSorted((a, b) => (a.instance < b.instance ? -1 : 1))
}

export function versionsIn(sql: Sql, versions: readonly TransferredVersion[]): void {
  for (const { instance, version, startedAt, endedAt } of versions)
    sql(IN).run(instance, version, startedAt, endedAt)
}

/** The versions that instances declared, and which instances ran them. */
import type { TransferredVersion } from '../../store/admin/transfer.ts'
import type { VersionRecord } from '../../store/types/instance.ts'
import { ask, askWith, columnsOf, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** Each lookup uses a primary key. */
export const versionOf = (instance: string): string => `coalesce(
    (SELECT i.version FROM jobmill.instance AS i WHERE i.id = ${instance}),
    (SELECT p.version FROM jobmill.past_instance AS p WHERE p.id = ${instance}))`

/** The ids of the instances with one of these versions. */
export const instancesOf = (versions: string): string => `
  SELECT i.id FROM jobmill.instance AS i WHERE i.version = ANY (${versions}::text[])
   UNION ALL SELECT p.id FROM jobmill.past_instance AS p WHERE p.version = ANY (${versions}::text[])`

/** Reads both tables, which retention keeps small. An instance that came back is in both. */
const VERSIONS = `
WITH ${GIVEN_CTE}
SELECT v.version, min(v.started_at) AS "firstAt", max(v.seen_at) AS "lastAt", count(*)::int4 AS instances,
       (count(*) FILTER (WHERE v.alive))::int4 AS alive
  FROM (SELECT i.version, i.started_at, i.ended_at IS NULL AND i.expires_at > g.now AS alive,
               CASE WHEN i.ended_at IS NULL AND i.expires_at > g.now THEN g.now ELSE coalesce(i.ended_at, i.renewed_at) END AS seen_at
          FROM jobmill.instance AS i, given AS g WHERE i.version IS NOT NULL
         UNION ALL
        SELECT p.version, p.started_at, false, p.ended_at FROM jobmill.past_instance AS p
         WHERE NOT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = p.id)) AS v
 GROUP BY v.version ORDER BY min(v.started_at) DESC, v.version COLLATE "C" DESC LIMIT 100`

export function versions(context: Context): Promise<VersionRecord[]> {
  return ask(context, VERSIONS)
}

const VERSIONS_OUT = `
SELECT i.id AS instance, i.version, i.started_at AS "startedAt", coalesce(i.ended_at, i.renewed_at) AS "endedAt"
  FROM jobmill.instance AS i WHERE i.version IS NOT NULL
 UNION ALL
SELECT p.id, p.version, p.started_at, p.ended_at FROM jobmill.past_instance AS p
 WHERE NOT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = p.id) ORDER BY 1`

const VERSIONS_IN = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.past_instance (id, version, started_at, ended_at)
SELECT x.instance, x.version, x.started_at, x.ended_at
  FROM given, json_to_recordset(p -> 'versions') AS x(instance uuid, version text, started_at int8, ended_at int8)
    ON CONFLICT (id) DO NOTHING`

export function versionsOut(context: Context): Promise<TransferredVersion[]> {
  return askWith(context, VERSIONS_OUT)
}

export async function versionsIn(context: Context, versions: readonly TransferredVersion[]): Promise<void> {
  await ask(context, VERSIONS_IN, { versions: versions.map((one) => columnsOf(one)) })
}

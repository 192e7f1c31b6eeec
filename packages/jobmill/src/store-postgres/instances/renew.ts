/**
 * The heartbeat: calls a database function that renews an instance and returns what an idle instance needs to
 * know.
 */
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import type { Row } from '../connection/connection.ts'
import { type Context, listOf, run } from '../context.ts'
import { bidFields } from './duties.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'
import { type LimitedQueue, limitedQueues } from '../claim/limited.ts'
import { ROWS_OF_NAMES } from '../names/names.ts'
import { isReady, readHeartbeat } from './read-heartbeat.ts'

const HEARTBEAT = `SELECT * FROM jobmill.heartbeat($1)`
const HEARTBEAT_AND_NAMES = `SELECT p.*, ${ROWS_OF_NAMES} AS names FROM jobmill.heartbeat($1) AS p`

/**
 * A separate statement: if a renewal or reap ran concurrently, the first snapshot is too old to tell which.
 */
const STILL_ALIVE = `
WITH ${GIVEN_CTE}
SELECT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
                  AND i.expires_at > g.now) AS alive,
       (SELECT json_agg(d.name ORDER BY d.name COLLATE "C")
          FROM jobmill.duty AS d, json_to_recordset(g.p -> 'duties') AS x(name text)
         WHERE d.name = x.name AND d.leader = (g.p ->> 'instance')::uuid AND d.expires_at > ${NOW}) AS leads
  FROM given AS g`

export async function renew(context: Context, request: HeartbeatRequest): Promise<Heartbeat> {
  const { instance, leaseMs, renewEveryMs, queues, kinds, duties } = request
  const fields = JSON.stringify({
    instance,
    lease_ms: leaseMs,
    every_ms: renewEveryMs,
    queues,
    kinds,
    duties: bidFields(duties),
    limited: context.met.limited,
  }).slice(1, -1)
  const { query } = context.connection
  const looked = readHeartbeat(context, request)
  const isLook = context.names.isLookDue()
  const statement = isLook ? HEARTBEAT_AND_NAMES : HEARTBEAT
  const [row = {}] = await run(context, query, statement, `${fields},${looked.fields}`)
  looked.evaluate(row)
  if (isLook) context.names.compare(row['names'])
  const limited = await limitedQueues(context, row, request)
  if (row['alive'] === true) return heartbeatOf(row, row, limited)
  const [still = {}] = await run(context, query, STILL_ALIVE, fields)
  return heartbeatOf(row, still, limited)
}

function heartbeatOf(row: Row, { alive, leads }: Row, limited: readonly LimitedQueue[]): Heartbeat {
  const open = limited.filter((one) => one.available > 0)
  return {
    alive: alive === true,
    cancels: listOf<Heartbeat['cancels'][number]>(row['cancels']),
    settingsVersion: row['settings_version'] as number,
    membersVersion: row['members_version'] as number,
    leads: alive === true ? listOf<string>(leads) : [],
    slots: listOf<Heartbeat['slots'][number]>(row['slots']),
    ready: isReady(row['look']) || open.some((one) => one.ready),
    quarantined: row['quarantined'] === true || open.some((one) => one.quarantined),
    stageInMs: row['stage_in_ms'] as number | null,
    budgetInMs: soonest(limited.filter((one) => one.available === 0)),
    scheduleInMs: row['schedule_in_ms'] as number | null,
    expired: row['expired'] === true,
    unrolled: row['unrolled'] === true,
  }
}

function soonest(limited: readonly LimitedQueue[]): number | null {
  const waits = limited.flatMap(({ nextInMs }) => nextInMs ?? [])
  return waits.length === 0 ? null : Math.min(...waits)
}

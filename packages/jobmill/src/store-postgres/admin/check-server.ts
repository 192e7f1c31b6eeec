/** Checks the server: version, clock, connections and text encoding. */
import { spanText } from '../../job/text/span-text.ts'
import { broken, type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import { ENCODING_FIX, encodingProblem, versionProblem } from '../connection/server-version.ts'
import type { Look } from './reach.ts'

const MOST_SKEW_MS = 2_000
const MOST_USED = 0.8

const VERSION = `SELECT current_setting('server_version_num')::int4 AS number, version() AS text`

export async function version({ query }: Look): Promise<Diagnostic> {
  const [row] = await query(VERSION, [])
  const problem = versionProblem(Number(row?.['number']))
  if (problem !== null) return broken('server', problem, 'Upgrade the server')
  return ok('server', String(row?.['text']).split(',')[0] ?? '')
}

/** A store does not open with another encoding. */
export async function encoding({ query }: Look): Promise<Diagnostic> {
  const [row] = await query(`SELECT current_setting('server_encoding') AS name`, [])
  const name = String(row?.['name'])
  const problem = encodingProblem(name)
  if (problem !== null) return broken('encoding', `${problem} (${name})`, ENCODING_FIX)
  return ok('encoding', `the encoding is ${name}`)
}

/**
 * Compares the server clock with the local one. Due times that the caller passes depend on the local clock;
 * everything else uses the database clock.
 */
export async function clock({ query, settings }: Look): Promise<Diagnostic> {
  const { platform } = settings
  const sentAt = platform.now()
  const [row] = await query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now', [])
  const answeredAt = platform.now()
  const there = settings.clock?.() ?? Number(row?.['now'])
  // The server read its clock between the two local readings.
  const skewMs = Math.max(sentAt - there, there - answeredAt, 0)
  if (skewMs <= MOST_SKEW_MS) return ok('clock', 'the clocks of the server and this machine agree')
  const [direction, effect] = there > answeredAt ? ['ahead of', 'early'] : ['behind', 'late']
  return warning(
    'clock',
    `the clock of the server is ${spanText(skewMs)} ${direction} this machine: jobs enqueued here with runAt start ${spanText(skewMs)} ${effect}`,
    'Synchronize both with NTP. Leases and delays are not affected, because the server measures them',
  )
}

/** Excludes connections reserved for administrators. */
const CONNECTIONS = `
SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
         - coalesce(current_setting('reserved_connections', true)::int4, 0) AS most`

export async function connections({ query }: Look): Promise<Diagnostic> {
  const [row] = await query(CONNECTIONS, [])
  const [used, most] = [Number(row?.['used']), Number(row?.['most'])]
  const usage = `${used} of ${most} connections are in use`
  if (used < most * MOST_USED) return ok('connections', usage)
  return warning(
    'connections',
    `${usage}: without a free one, no process can start or reconnect`,
    'Raise max_connections, use a pooler, or lower the option connections of the stores',
  )
}

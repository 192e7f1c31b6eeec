/**
 * Checks whether notifications arrive. A pooler in transaction mode accepts LISTEN but never delivers,
 * without an error. If a pooler is detected, this check sends a test notification and waits for it.
 */
import type pg from 'pg'
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import { type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import type { Query } from '../connection/connection.ts'
import { loadPg, newClient } from '../connection/driver.ts'
import { type Look, withClient } from './reach.ts'

const CONNECT_MS = 5_000
const NOTIFY_MS = 2_000

export async function notifier({ query, settings: { notifier: url, platform } }: Look): Promise<Diagnostic> {
  if (url === null) return ok('notifier', 'disabled: workers poll for new jobs')
  const times = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS }
  const own = newClient(url, { application_name: 'jobmill notifier', ...times })
  try {
    return await withClient(own, { platform, waitMs: CONNECT_MS }, async (client) => {
      if (await isDirect(client)) return ok('notifier', 'connected directly to the server')
      if (await isDelivered(client, query, platform))
        return ok('notifier', 'connected through a pooler in session mode')
      return warning(
        'notifier',
        'a pooler drops notifications (LISTEN): workers poll for jobs of other processes, and find them up to 640 ms late',
        'Set the option notifier to the URL of the server itself, or to false',
      )
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return warning(
      'notifier',
      `cannot listen for new jobs, falling back to polling: ${why}`,
      'Check the option notifier. Behind a pooler, set it to the URL of the server itself, or to false',
    )
  }
}

/** A pooler reports a different process id than the server session has. */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return (client as pg.Client & { readonly processID?: number | null }).processID === rows[0]?.pid
}

async function isDelivered(client: pg.Client, query: Query, platform: Platform): Promise<boolean> {
  const received = new AbortController()
  const channel = `jobmill doctor ${platform.id()}`
  client.on('notification', () => received.abort())
  await client.query(`LISTEN ${loadPg().escapeIdentifier(channel)}`)
  await query('SELECT pg_notify($1, $2)', [channel, ''])
  await sleep(platform, NOTIFY_MS, received.signal)
  const isThere = received.signal.aborted
  // The pooler may route this to another session. Best effort.
  await client.query(`UNLISTEN ${loadPg().escapeIdentifier(channel)}`)
  return isThere
}

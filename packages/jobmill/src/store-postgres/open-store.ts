/** Opens the store: connects, migrates, and builds the parts that its verbs use. */
import { JobmillError, quote } from '../job/errors.ts'
import type { Connection } from './connection/connection.ts'
import type { Context } from './context.ts'
import { createNotifier, type PostgresNotifier } from './notifier/notifier.ts'
import { dueFloor } from './claim/due-floor.ts'
import { floors } from './claim/floors.ts'
import { migrate } from './schema/migrate.ts'
import { namesOf } from './names/names.ts'
import { type CommitWatch, commitWatch } from './notifier/commit-watch.ts'
import { type Recovery, recovery } from './schema/recovery.ts'
import type { PostgresSettings } from './options.ts'
import { ENCODING_FIX, encodingProblem, versionProblem } from './connection/server-version.ts'

/** The parts of an open store. */
export interface Opened {
  readonly context: Context
  readonly notifier: PostgresNotifier
  readonly commits: CommitWatch
  readonly recovery: Recovery
}

async function readSecret(connection: Connection, sql: (text: string) => string): Promise<string> {
  const [row] = await connection.query(sql('SELECT value FROM jobmill.secret ORDER BY value LIMIT 1'), [])
  if (typeof row?.['value'] === 'string') return row['value']
  throw new JobmillError('STORE_UNAVAILABLE', 'the table secret is empty, so remote dispatch is off', {
    fix: 'Insert any long random value into its column value',
  })
}

export async function openStore(settings: PostgresSettings, connection: Connection): Promise<Opened> {
  const { schema, platform, clock, deadlineMs } = settings
  const sql = inSchema(schema)
  const [lowest, heads, due] = [floors(), floors(), dueFloor()]
  const migrated = Promise.withResolvers<void>()
  migrated.promise.catch(() => {})
  const recovering = recovery({ connection, schema, sql, platform, deadlineMs })
  const notifier = createNotifier({
    url: settings.notifier,
    channel: `jobmill ${schema}`,
    platform,
    connection,
    secret: () => migrated.promise.then(() => readSecret(connection, sql)),
    onNotification(queues) {
      lowest.disturb(queues)
      heads.disturb(queues)
    },
  })
  const listening = notifier.open()
  try {
    await checkServer(connection)
    await migrate({ connection, schema, sql, platform, deadlineMs })
    await recovering.onOpened()
    migrated.resolve()
  } catch (error) {
    migrated.reject(error)
    await notifier.close()
    await connection.close()
    throw error
  }
  await listening
  const commits = commitWatch({
    connection,
    platform,
    notify: (notifications) => notifier.notify(notifications),
  })
  const context: Context = {
    connection,
    names: namesOf({
      connection,
      sql,
      platform,
      async onReplaced() {
        for (const cursor of [lowest, heads, due]) cursor.clear()
        await recovering.onReplaced()
        notifier.reconnect()
      },
    }),
    platform,
    clock,
    sql,
    met: { limited: false },
    floors: lowest,
    heads,
    due,
    notify: (notifications) => notifier.notify(notifications),
    notifyAfterCommit: commits.add,
    notifyAlong: (notifications) => notifier.along(notifications),
    handOver: (job) => notifier.handOvers.of(job),
    forgetNotifications: (queues) => notifier.forget(queues),
  }
  return { context, notifier, commits, recovery: recovering }
}

/** Statements are written for the schema `jobmill`. This rewrites each one once for the configured schema. */
export function inSchema(schema: string): (text: string) => string {
  const quoted = `"${schema}".`
  const known = new Map<string, string>()
  return (text) => {
    if (schema === 'jobmill') return text
    let there = known.get(text)
    if (there === undefined) {
      there = text.replaceAll('jobmill.', quoted)
      known.set(text, there)
    }
    return there
  }
}

async function checkServer(connection: Connection): Promise<void> {
  const [row] = await connection.query(
    `SELECT current_setting('server_version_num')::int4 AS version, current_setting('server_encoding') AS encoding`,
    [],
  )
  const problem = versionProblem(Number(row?.['version']))
  if (problem !== null) throw new JobmillError('STORE_UNSUPPORTED', problem, { fix: 'Upgrade the server' })
  const encoding = String(row?.['encoding'])
  const unfit = encodingProblem(encoding)
  if (unfit === null) return
  throw new JobmillError('STORE_UNSUPPORTED', unfit, {
    field: 'server_encoding',
    value: quote(encoding),
    fix: ENCODING_FIX,
  })
}

/** Opens the store: connects, migrates, and builds the parts that its verbs use. */
import { JobmillError, quote } from '../job/errors.ts'
import { type Connection, connect } from './connection/connection.ts'
import { type Replica, replicaReads } from './connection/replica.ts'
import type { Context } from './context.ts'
import { createNotifier } from './notifier/notifier.ts'
import { dueCursor } from './claim/due-cursor.ts'
import { batches } from './claim/batches.ts'
import { knownRows } from './steps/known-rows.ts'
import { scanCursors } from './claim/scan-cursors.ts'
import { migrate } from './schema/migrate.ts'
import { namesOf } from './names/names.ts'
import { commitWatch } from './notifier/commit-watch.ts'
import { recovery } from './schema/recovery.ts'
import type { PostgresSettings } from './options.ts'
import { ENCODING_FIX, encodingProblem, versionProblem } from './connection/server-version.ts'

const NO_SECRET = 'the table secret in the schema of the store is empty, so remote dispatch is off'

async function readSecret(connection: Connection, sql: (text: string) => string): Promise<string> {
  const [row] = await connection.query(sql('SELECT value FROM jobmill.secret ORDER BY value LIMIT 1'), [])
  if (typeof row?.['value'] === 'string') return row['value']
  throw new JobmillError('STORE_UNAVAILABLE', NO_SECRET, {
    fix: 'Insert one row with a long random string in the column "value"',
  })
}

/** Returns the parts of an open store. */
export async function openStore(settings: PostgresSettings, connection: Connection) {
  const { schema, platform, clock, deadlineMs } = settings
  const sql = inSchema(schema)
  // With the clock of a test, full scans are not limited to a share of the time.
  const how = { limitsTime: clock === undefined }
  const [claimCursors, readyCursors, due] = [scanCursors(how), scanCursors(how), dueCursor(how)]
  const migrated = Promise.withResolvers<void>()
  migrated.promise.catch(() => {})
  const target = { connection, schema, sql, platform, deadlineMs }
  const recovering = recovery(target)
  const notifier = createNotifier({
    url: settings.notifier,
    channel: `jobmill ${schema}`,
    platform,
    connection,
    secret: () => migrated.promise.then(() => readSecret(connection, sql)),
    onNotification(queues) {
      claimCursors.disturb(queues)
      readyCursors.disturb(queues)
    },
  })
  const listening = notifier.open()
  try {
    await checkServer(connection)
    await migrate(target)
    await recovering.onOpened()
    migrated.resolve()
  } catch (error) {
    migrated.reject(error)
    await notifier.close()
    await connection.close()
    throw error
  }
  await listening
  const context: Context = {
    connection,
    names: namesOf({
      connection,
      sql,
      platform,
      async onReplaced() {
        for (const cursor of [claimCursors, readyCursors, due]) cursor.clear()
        await recovering.onReplaced()
        notifier.reconnect()
      },
    }),
    platform,
    clock,
    sql,
    claimCursors,
    readyCursors,
    batches: batches(settings.batchFrom),
    withSteps: knownRows(),
    due,
    fairTurns: new Map(),
    notifier,
    commits: commitWatch({ connection, platform, notify: (notifications) => notifier.notify(notifications) }),
    forgetNotifications: (queues) => notifier.forget(queues),
  }
  return { context, recovery: recovering, replica: openReplica(settings, context) }
}

/** How long a statement on a replica may take before the primary answers instead. */
const REPLICA_DEADLINE_MS = 10_000

/** Null without a replica. Connects with the first read. */
function openReplica(settings: PostgresSettings, { connection, sql, platform }: Context): Replica | null {
  const { readUrl, connections, deadlineMs, namesStatements } = settings
  if (readUrl === null) return null
  const replica = connect({
    url: readUrl,
    connections,
    deadlineMs: Math.min(deadlineMs, REPLICA_DEADLINE_MS),
    namesStatements,
    platform,
    // If a conflict with recovery ends a statement on the replica, the primary gets it.
    retries: 0,
  })
  return replicaReads({ primary: connection, replica, sql, platform })
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
    `SELECT current_setting('server_version_num')::int4 AS version, current_setting('server_encoding') AS encoding,
            current_setting('array_nulls') AS array_nulls`,
    [],
  )
  const problem = versionProblem(Number(row?.['version']))
  if (problem !== null) throw new JobmillError('STORE_UNSUPPORTED', problem, { fix: 'Upgrade the server' })
  if (row?.['array_nulls'] === 'off')
    throw new JobmillError('STORE_UNSUPPORTED', 'must be on, because Jobmill passes arrays with nulls', {
      field: 'array_nulls',
      value: 'off',
      fix: 'Remove the setting from the role, the database and the database URL',
    })
  const encoding = String(row?.['encoding'])
  const unfit = encodingProblem(encoding)
  if (unfit === null) return
  throw new JobmillError('STORE_UNSUPPORTED', unfit, {
    field: 'server_encoding',
    value: quote(encoding),
    fix: ENCODING_FIX,
  })
}

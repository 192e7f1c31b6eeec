/** The PostgreSQL store: every verb wired to its file. */
import { JobmillError } from '../job/errors.ts'
import { checked } from '../store/checked.ts'
import { lifecycle } from '../store/lifecycle.ts'
import type { Store } from '../store/store.ts'
import { cancel } from './cancel.ts'
import { claim } from './claim.ts'
import { type Connection, connect } from './connection.ts'
import type { Context } from './context.ts'
import { counts } from './counts.ts'
import { deleteJobs } from './delete.ts'
import { doorbell, type PostgresDoorbell } from './doorbell.ts'
import { enqueue } from './enqueue.ts'
import { finish } from './finish.ts'
import { fold } from './fold.ts'
import { get } from './get.ts'
import { history } from './history.ts'
import { deregister, held, instances, register } from './instances.ts'
import { list } from './list.ts'
import { migrate } from './migrate.ts'
import { namesOf } from './names.ts'
import { type PostgresOptions, type PostgresSettings, resolveOptions } from './options.ts'
import { progress } from './progress.ts'
import { changeQueue, declareQueues, queues } from './queues.ts'
import { reap } from './reap.ts'
import { renew } from './renew.ts'
import { results } from './results.ts'
import { retain } from './retain.ts'
import { retry } from './retry.ts'
import { runNow } from './run-now.ts'
import { stage } from './stage.ts'
import type { Tx } from './tx.ts'
import { unserved } from './unserved.ts'

const OLDEST = 14

/** What is there while the store is open. */
interface Opened {
  readonly context: Context
  readonly bell: PostgresDoorbell
}

export function postgres(url: string, options: PostgresOptions = {}): Store<Tx> {
  const settings = resolveOptions(url, options)
  const life = lifecycle(
    () => openStore(settings),
    async ({ bell, context }) => {
      await bell.close()
      await context.connection.close()
    },
  )
  const run = <T>(verb: (context: Context) => Promise<T>): Promise<T> =>
    life.run(({ context }) => verb(context))

  return checked({
    name: settings.name,
    open: () => life.open(),
    close: () => life.close(),
    enqueue: (jobs, how) => run((context) => enqueue(context, jobs, how)),
    stage: (limit) => run((context) => stage(context, limit)),
    claim: (request) => run((context) => claim(context, request)),
    finish: (items, how) => run((context) => finish(context, items, how)),
    progress: (items) => run((context) => progress(context, items)),
    cancel: (ids, reason) => run((context) => cancel(context, ids, reason)),
    retry: (ids) => run((context) => retry(context, ids)),
    runNow: (ids) => run((context) => runNow(context, ids)),
    delete: (ids) => run((context) => deleteJobs(context, ids)),
    register: (instance) => run((context) => register(context, instance)),
    renew: (request) => run((context) => renew(context, request)),
    deregister: (instance) => run((context) => deregister(context, instance)),
    reap: (how) => run((context) => reap(context, how)),
    retain: (limit) => run((context) => retain(context, limit)),
    fold: (limit) => run((context) => fold(context, limit)),
    declareQueues: (wanted) => run((context) => declareQueues(context, wanted)),
    changeQueue: (name, patch) => run((context) => changeQueue(context, name, patch)),
    get: (ids) => run((context) => get(context, ids)),
    results: (ids) => run((context) => results(context, ids)),
    history: (id) => run((context) => history(context, id)),
    list: (filter, page) => run((context) => list(context, filter, page)),
    counts: () => run((context) => counts(context)),
    queues: () => run((context) => queues(context)),
    instances: () => run((context) => instances(context)),
    unserved: () => run((context) => unserved(context)),
    held: (instance) => run((context) => held(context, instance)),
    wait: async (how) => life.use().bell.wait(how),
    ring: (rung) => life.opened?.bell.ring(rung),
  })
}

async function openStore(settings: PostgresSettings): Promise<Opened> {
  const { schema, platform, clock } = settings
  const connection = connect(settings)
  const sql = inSchema(schema)
  try {
    await checkServer(connection)
    await migrate(connection, schema, sql)
  } catch (error) {
    await connection.close()
    throw error
  }
  const bell = doorbell({ url: settings.doorbell, channel: `jobmill ${schema}`, platform, connection })
  bell.open()
  const context: Context = {
    connection,
    names: namesOf(connection, sql),
    platform,
    clock,
    sql,
    ring: (queues) => bell.ring(queues),
    heard: (queues) => bell.forget(queues),
  }
  return { context, bell }
}

/** Statements are written for the schema `jobmill` and put into the one that was chosen, each once. */
function inSchema(schema: string): (text: string) => string {
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
  const [row] = await connection.query('SHOW server_version_num', [])
  const major = Math.floor(Number(row?.['server_version_num']) / 10_000)
  if (major >= OLDEST) return
  throw new JobmillError('STORE_UNSUPPORTED', `PostgreSQL ${major} is older than ${OLDEST}`, {
    fix: 'Upgrade the server',
  })
}

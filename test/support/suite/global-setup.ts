// Runs once around all test files: starts a current and an old PostgreSQL server, and provides their URLs as
// `inject('postgresUrl')` and `inject('oldPostgresUrl')`. TEST_DATABASE_URL and TEST_DATABASE_URL_OLD name
// servers to use instead. Also bundles the programs that tests start.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { bundlePrograms } from '../programs/bundle-programs.ts'
import { keepSessions } from '../postgres/kept-sessions.ts'
import { postgresPackage } from '../postgres/postgres-binaries.ts'
import { startPostgres, type PostgresServer } from '../postgres/postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    /**
     * The same server through pooled sessions that have cached its tables, for short-lived stores: see
     * kept-sessions.ts.
     */
    keptPostgresUrl: string
    /** Whether sessions of the server can be pooled. */
    keepsSessions: boolean
    /** The Unix socket of our own server; null for a configured one. */
    postgresSocket: string | null
    /** Null when no older server is available for this machine. */
    oldPostgresUrl: string | null
    /** The folder of the bundle: see programs.ts. */
    programs: string
    /** An unused schema, and the prefix of the schemas that tests share: see recycled-schemas.ts. */
    patternSchema: string
  }
}

interface Around {
  readonly provided: Pick<
    ProvidedContext,
    | 'postgresUrl'
    | 'keptPostgresUrl'
    | 'keepsSessions'
    | 'postgresSocket'
    | 'oldPostgresUrl'
    | 'patternSchema'
  >
  /** Safe to call twice. */
  readonly stop: () => Promise<void>
}

/** Shared by all projects of the run, each of which loads this file separately. */
const shared = globalThis as { jobmillAround?: Promise<Around> | undefined }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bundle = async (): Promise<void> => project.provide('programs', await bundlePrograms())
  await bundle()
  // In watch mode, sources change between runs.
  project.onTestsRerun(bundle)

  shared.jobmillAround ??= start()
  const { provided, stop } = await shared.jobmillAround
  for (const [name, value] of Object.entries(provided)) project.provide(name as keyof typeof provided, value)
  return stop
}

async function start(): Promise<Around> {
  const started: PostgresServer[] = []
  async function urlOf(binaries: 'current' | 'old', configured: string | undefined): Promise<string> {
    if (configured) return configured
    const server = await startPostgres({ binaries })
    started.push(server)
    return server.url
  }
  async function stopAll(): Promise<void> {
    await Promise.all(started.map((server) => server.stop()))
  }

  const { TEST_DATABASE_URL, TEST_DATABASE_URL_OLD } = process.env
  const [current, old] = await Promise.allSettled([
    urlOf('current', TEST_DATABASE_URL),
    TEST_DATABASE_URL_OLD || postgresPackage('old') !== null ? urlOf('old', TEST_DATABASE_URL_OLD) : null,
  ])
  if (current.status === 'rejected') {
    await stopAll()
    throw new Error('the tests need PostgreSQL. Check the cause, or set TEST_DATABASE_URL', {
      cause: current.reason,
    })
  }
  const oldPostgresUrl = old.status === 'fulfilled' ? old.value : null
  if (oldPostgresUrl === null) warnWithoutOld(old.status === 'rejected' ? String(old.reason) : undefined)
  // A server that asks for a password cannot be used through pooled sessions, which authenticate only once.
  const postgresSocket = started.find(({ url }) => url === current.value)?.socket ?? null
  const kept = TEST_DATABASE_URL
    ? null
    : await keepSessions(current.value, { keepsStatements: false, socket: postgresSocket })
  const patternSchema = `pattern_${randomBytes(6).toString('hex')}`
  let stopping: Promise<void> | undefined
  return {
    provided: {
      postgresUrl: current.value,
      keptPostgresUrl: kept?.url ?? current.value,
      keepsSessions: kept !== null,
      postgresSocket,
      oldPostgresUrl,
      patternSchema,
    },
    stop: () => {
      stopping ??= (async () => {
        // Our own server is removed with its schemas.
        if (TEST_DATABASE_URL) await dropSchemas(TEST_DATABASE_URL, patternSchema)
        await kept?.stop()
        await stopAll()
      })()
      return stopping
    },
  }
}

async function dropSchemas(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select nspname as name from pg_namespace where starts_with(nspname, $1)`,
    [prefix],
  )
  for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  await client.end()
}

function warnWithoutOld(reason = `npm has none for ${process.platform} ${process.arch}`): void {
  console.warn(`
!! NOT TESTED: the older PostgreSQL.
!! No server is available: ${reason}
!! Its tests are skipped. Set TEST_DATABASE_URL_OLD to an old server to run them.
`)
}

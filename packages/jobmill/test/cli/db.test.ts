/** The `jobmill db` commands as processes. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { anInstance } from '../../../conformance/src/factories.ts'
import { queryAt } from '../admin/sites.ts'
import { kill, startProcess } from '../processes/children.ts'
import { config, run, runOnTerminal } from './run.ts'

/** Runs a command to its end and returns its exit code and output. */
async function runToEnd(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { output, ended, child } = run(folder, args, env)
  child.stdin.end()
  return { code: await ended, ...output }
}

function emptyFolder(): { folder: string; file: string } {
  const file = freshFile()
  return { folder: path.dirname(file), file }
}

const PLAIN = `export default { store, jobs: [defineJob({ kind: 'send', queue: 'mail', run: () => 1 })], queues: { mail: { workers: 4 } } }`

/** Applies all migrations directly, because these tests are not about migrating. */
async function migratedConfig(): Promise<{ folder: string; file: string; store: ReturnType<typeof sqlite> }> {
  const made = config(PLAIN)
  const store = sqlite(made.file)
  await store.open()
  await store.close()
  onTestFinished(() => store.close())
  return { ...made, store }
}

function change(file: string, text: string): void {
  const database = new Database(file)
  database.exec(text)
  database.close()
}

/** Drops all tables except that of the migrations, which it empties. */
function everythingIn(file: string): string {
  const database = new Database(file, { readonly: true })
  const tables = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'jobmill_migration'`)
    .pluck()
    .all() as string[]
  database.close()
  return ['DELETE FROM jobmill_migration', ...tables.map((name) => `DROP TABLE ${name}`)].join('; ')
}

describe('jobmill db on sqlite', () => {
  test('from no file to a current one: status never creates anything, migrate prints what it applies', async () => {
    const { folder, file } = emptyFolder()
    const at = ['--db', 'sqlite:jobs.db']
    const before = await runToEnd(folder, ['db', 'status', ...at])
    expect(before).toMatchObject({ code: 3, err: '' })
    expect(before.out).toContain('sqlite jobs.db: no Jobmill tables yet. Run jobmill db migrate')
    expect(existsSync(file)).toBe(false)
    const migrate = await runToEnd(folder, ['db', 'migrate', ...at])
    expect(migrate.code).toBe(0)
    expect(migrate.out).toBe('applied  1 0.1.0\nsqlite jobs.db: up to date\n')
    const after = await runToEnd(folder, ['db', 'status', '--json', ...at])
    expect(after.code).toBe(0)
    expect(JSON.parse(after.out)).toMatchObject({ store: 'sqlite jobs.db', isThere: true, pending: [] })
  })

  test('status and doctor report pending migrations of an older database without applying them; a newer one is refused', async () => {
    const { folder, file, store } = await migratedConfig()
    // The migration could not be applied if its tables existed.
    change(file, everythingIn(file))
    const status = await runToEnd(folder, ['db', 'status'])
    expect(status.code).toBe(3)
    expect(status.out).toMatch(/1 +0\.1\.0 +pending/)
    const doctor = await runToEnd(folder, ['db', 'doctor'])
    expect(doctor).toMatchObject({ code: 0 })
    expect(doctor.out).toContain('not applied yet: migration 1 (0.1.0)')
    expect((await store.tools.schema()).pending).toHaveLength(1)
    expect((await runToEnd(folder, ['db', 'migrate'])).out).toBe(
      `applied  1 0.1.0\nsqlite ${file}: up to date\n`,
    )
    change(file, `INSERT INTO jobmill_migration VALUES (99, 'later', 'x', 0)`)
    const migrate = await runToEnd(folder, ['db', 'migrate'])
    expect(migrate).toMatchObject({ code: 3, out: '' })
    expect(migrate.err).toContain('Install the release of jobmill that migrated this database')
  })

  test('doctor: no problem, a warning and an error; the worst first, each with its fix', async () => {
    const { folder, file } = await migratedConfig()
    const well = await runToEnd(folder, ['db', 'doctor'])
    expect(well).toMatchObject({ code: 0, err: '' })
    expect(well.out).toContain('0 errors, 0 warnings')
    expect(well.out).not.toContain('fix:')
    expect(well.out).not.toContain('\u001B')
    const mill = jobmill({ store: sqlite(file), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    await mill.enqueue('send', null, { queue: 'mail' })
    await mill.changeQueue('mail', { workers: 8 })
    const warned = await runToEnd(folder, ['db', 'doctor'])
    expect(warned.code).toBe(0)
    expect(warned.out).toContain('1 job of kind "send" in queue "mail" has no worker')
    expect(warned.out).toContain('fix: Start a worker: jobmill work')
    expect(warned.out).toContain('queue "mail": workers is 8, but code says 4')
    expect(warned.out).toContain('0 errors, 1 warning, 1 notice')
    change(file, 'DROP INDEX jobmill_job_due')
    const broken = await runToEnd(folder, ['db', 'doctor', '--json'])
    expect(broken.code).toBe(1)
    const report = JSON.parse(broken.out) as { diagnostics: { level: string }[] }
    expect(report).toMatchObject({ errors: 1, warnings: 1, notices: 1 })
    expect(report.diagnostics.slice(0, 4).map(({ level }) => level)).toEqual([
      'error',
      'warning',
      'notice',
      'ok',
    ])
  })

  test('doctor in an empty folder reports that, and creates nothing', async () => {
    const { folder } = emptyFolder()
    const doctor = await runToEnd(folder, ['db', 'doctor'], { DATABASE_URL: '' })
    expect(doctor.code).toBe(2)
    expect(existsSync(path.join(folder, 'jobs.db'))).toBe(false)
    const wrong = await runToEnd(folder, ['db', 'doctor', '--db', 'jobs.db', '--open-for', 'long'])
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(wrong.err).toContain('file not found: jobs.db')
  })

  test('reset needs --force without a terminal, and is refused while an instance is alive', async () => {
    const { folder, file, store } = await migratedConfig()
    await store.open()
    const instance = anInstance({ label: 'acme-worker', leaseMs: 600_000 })
    await store.instances.register(instance)
    const unsure = await runToEnd(folder, ['db', 'reset'])
    expect(unsure.code).toBe(2)
    expect(unsure.err).toContain('Pass --force to confirm')
    const refused = await runToEnd(folder, ['db', 'reset', '--force'])
    expect(refused).toMatchObject({ code: 3, out: '' })
    expect(refused.err).toContain('nothing was deleted: acme-worker is running on sqlite')
    expect(await store.instances.list()).toHaveLength(1)
    await store.instances.deregister(instance.id)
    await store.close()
    const done = await runToEnd(folder, ['db', 'reset', '--force'])
    expect(done).toMatchObject({ code: 0, out: `sqlite ${file}: all data deleted, tables recreated\n` })
    await store.open()
    expect(await store.instances.list()).toEqual([])
  })

  // `script` of util-linux provides the terminal.
  test.skipIf(spawnSync('script', ['--version']).status !== 0)(
    'on a terminal reset asks for the name of the store, and doctor uses colors',
    async () => {
      const { folder, file, store } = await migratedConfig()
      const answer = async (line: string): Promise<{ code: number; out: string }> => {
        const reset = runOnTerminal(folder, ['db', 'reset', '--remove'])
        await reset.says('Type that name to continue: ')
        reset.child.stdin.write(`${line}\n`)
        return { code: await reset.ended, out: reset.output.out }
      }
      const wrong = await answer('yes')
      expect(wrong.code).toBe(3)
      expect(wrong.out).toContain('the name does not match; nothing was deleted')
      expect(await store.tools.schema()).toMatchObject({ isThere: true })
      const painted = runOnTerminal(folder, ['db', 'doctor'])
      expect(await painted.ended).toBe(0)
      expect(painted.output.out).toContain('\u001B[32mok')
      expect(await answer(`sqlite ${file}`)).toMatchObject({ code: 0 })
      expect(await store.tools.schema()).toMatchObject({ isThere: false })
    },
  )
})

describe('jobmill db on postgres', () => {
  test('creates a database, migrates it, checks it and removes it', async () => {
    const url = new URL(inject('postgresUrl'))
    const name = freshSchema(url.href, 'cli')
    onTestFinished(
      async () => void (await queryAt(inject('postgresUrl'), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
    )
    url.pathname = `/${name}`
    const { folder } = emptyFolder()
    const db = (...args: string[]) => runToEnd(folder, ['db', ...args], { DATABASE_URL: url.href })
    const early = await db('migrate')
    expect(early.code).toBe(4)
    expect(early.err).toContain('the database does not exist')
    expect((await db('create')).out).toMatch(/^postgres .*: created\n$/)
    expect((await db('migrate')).out).toContain('applied  1 0.1.0')
    const doctor = await db('doctor', '--json')
    const report = JSON.parse(doctor.out) as { diagnostics: { check: string; level: string }[] }
    // The configuration of the test server does not matter here.
    const others = report.diagnostics.filter(
      ({ check }) => !['durability', 'connections', 'horizon'].includes(check),
    )
    expect(others.map(({ level }) => level)).toEqual(others.map(() => 'ok'))
    expect(others.map(({ check }) => check)).toContain('served')
    expect(await db('reset', '--force', '--remove')).toMatchObject({ code: 0 })
    expect(await queryAt(url.href, `SELECT FROM pg_namespace WHERE nspname = 'jobmill'`)).toHaveLength(0)
  })

  test('schema prints the SQL without a server, for the schema of the URL', async () => {
    const { folder } = emptyFolder()
    const at = ['--db', 'postgres://nobody@127.0.0.1:1/nothing?schema=jobs']
    const printed = await runToEnd(folder, ['db', 'schema', ...at])
    expect(printed).toMatchObject({ code: 0, err: '' })
    expect(printed.out).toContain('CREATE SCHEMA IF NOT EXISTS "jobs";')
    expect(printed.out).toContain('CREATE FUNCTION "jobs".claim(')
    expect(printed.out).not.toContain('jobmill.')
    const { sql } = JSON.parse((await runToEnd(folder, ['db', 'schema', '--json', ...at])).out) as {
      sql: string
    }
    expect(`${sql}\n`).toBe(printed.out)
  })

  test('an unreachable server exits with 4', async () => {
    const { folder } = emptyFolder()
    const at = ['--db', 'postgres://nobody@127.0.0.1:1/nothing']
    const { code, err } = await runToEnd(folder, ['db', 'status', ...at])
    expect([code, err]).toEqual([4, expect.stringContaining('the database cannot be reached')])
  })
})

test('D3 a command names the process whose logs were deleted, also if the tables were only in them', async () => {
  const { folder, file } = emptyFolder()
  const other = startProcess('store-process.ts', {
    place: { store: 'sqlite', at: file },
    task: 'enqueue-on-request',
  })
  onTestFinished(() => kill(other))
  await other.untilMessages(({ length }) => length === 1)
  for (const log of ['-wal', '-shm']) rmSync(`${file}${log}`)
  for (const args of [
    ['queues', 'list', '--db', `sqlite:${file}`],
    ['db', 'status', '--db', `sqlite:${file}`],
  ]) {
    const { code, err } = await runToEnd(folder, args)
    expect([args, code, err]).toEqual([
      args,
      4,
      expect.stringContaining(`process ${other.child.pid} still has the old one open`),
    ])
  }
  expect(existsSync(`${file}-shm`)).toBe(false)
})

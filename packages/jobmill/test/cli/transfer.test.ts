// `jobmill transfer` as a process: what it copies, what it refuses, and that it can be killed and resumed at
// any time.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { bundled } from '../../../../test/support/programs/programs.ts'
import { openTables, sql } from '../../../tables/src/index.ts'
import { transferCommand } from '../../src/cli/commands/transfer.ts'
import { JOBMILL } from '../../src/cli/commands.ts'
import { parseCommand } from '../../src/cli/program/parse-arguments.ts'
import { terminal } from '../../src/cli/output/terminal.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'
import {
  aClaim,
  aFinish,
  aJob,
  anInstance,
  DEAD,
  DONE,
  later,
  someJobs,
} from '../../../conformance/src/factories.ts'

const MAIN = bundled(path.join(import.meta.dirname, '../../src/cli/main.ts'))
const JOBS = inFull(2_000, 1_000)

interface Database {
  /** The URL for the command line. */
  readonly url: string
  readonly store: FullStore<never>
}

async function opened(url: string, store: FullStore<never>): Promise<Database> {
  onTestFinished(() => store.close())
  await store.open()
  return { url, store }
}

function aFile(): Promise<Database> {
  const file = freshFile()
  return opened(`sqlite:${file}`, sqlite(file, { durability: 'relaxed' }))
}

function aSchema(): Promise<Database> {
  const server = inject('postgresUrl')
  const schema = freshSchema(server, 'transfer')
  const url = new URL(server)
  url.searchParams.set('schema', schema)
  return opened(url.href, postgres(server, { schema, notifier: false }))
}

/** Some jobs of each state, and a lost process that left a few running. */
async function filled(database: Database, jobs = JOBS): Promise<Database> {
  const { store } = database
  const instance = anInstance({ leaseMs: 1 })
  await store.enqueue(
    someJobs(
      Array.from({ length: jobs }, (_, n) => ({
        payload: { n },
        ...(n % 3 === 0 && { delay: '1h' }),
        ...(n % 7 === 0 && { tags: ['seven'], dedupe: { key: `seven-${n}`, holdFor: '1d' } }),
      })),
    ),
  )
  await store.instances.register({ ...instance, leaseMs: 60_000 })
  const leases = await store.claim(aClaim(instance.id))
  const ends = [DONE, DEAD, later(3_600_000)]
  await store.finish(
    leases.slice(5).map((lease, n) => aFinish(lease, ends[n % 3] ?? DONE, { error: `end ${n}` })),
  )
  await store.instances.register(instance)
  return database
}

interface TransferReport {
  readonly there: number
  readonly transferred: number
  readonly checksums: Readonly<Record<'source' | 'target', object>>
}

interface Run {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  readonly output: { out: string; err: string }
}

function run(...args: string[]): Run {
  const child = spawn(process.execPath, [MAIN, 'transfer', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.on('data', (data) => (output.out += String(data)))
  child.stderr.on('data', (data) => (output.err += String(data)))
  return { child, output, ended: once(child, 'close').then(([code]) => code as number | null) }
}

async function jobsOn({ store }: Database): Promise<number> {
  const counts = await store.counts()
  return counts.reduce((sum, { ready, scheduled, done, dead }) => sum + ready + scheduled + done + dead, 0)
}

/**
 * A transfer that is stopped halfway. On a busy machine it may already be done, then it is tried again with
 * another target.
 */
async function halfWay(
  signal: NodeJS.Signals,
  source: Database,
  to: () => Promise<Database>,
): Promise<{ target: Database; stopped: Run }> {
  for (;;) {
    const target = await to()
    const stopped = run('--from', source.url, '--to', target.url, '--batch', '10')
    await expect.poll(() => jobsOn(target), { interval: 25 }).toBeGreaterThanOrEqual(100)
    stopped.child.kill(signal)
    await stopped.ended
    if ((await jobsOn(target)) < JOBS) return { target, stopped }
  }
}

test('P3 P18 follow-ups and children of jobs that were cancelled last are not left behind', async () => {
  const [source, target] = [await aSchema(), await aFile()]
  const { store } = source
  const instance = anInstance({ kinds: ['order', 'work'], onCancelled: ['order'], leaseMs: 60_000 })
  await store.instances.register(instance)
  const [parent, child] = [aJob({ kind: 'work' }), aJob({ kind: 'order' })]
  await store.enqueue([parent])
  const [lease] = await store.claim(aClaim(instance.id, { kinds: ['work'] }))
  await store.steps.start([{ id: parent.id, token: lease?.token ?? 0, name: 'fan', place: 0, jobs: [child] }])
  await store.cancel([parent.id], 'stop')
  await store.instances.deregister(instance.id)
  expect(await run('--from', source.url, '--to', target.url).ended).toBe(0)
  expect((await target.store.get([parent.id, child.id])).map((job) => job?.state)).toEqual([
    'cancelled',
    'cancelled',
  ])
  const { jobs } = await target.store.list({ kind: 'order:cancelled' }, { limit: 10 })
  expect(jobs).toMatchObject([{ state: 'ready' }])
})

describe('jobmill transfer between sqlite and postgres', () => {
  const ways: readonly [string, () => Promise<Database>, () => Promise<Database>][] = [
    ['sqlite to postgres', aFile, aSchema],
    ['postgres to sqlite', aSchema, aFile],
  ]
  test.each(inFull(ways, ways.slice(0, 1)))(
    'P3 from %s, killed halfway and started again, it ends with the same jobs',
    async (_, from, to) => {
      const source = await filled(await from())
      const { target } = await halfWay('SIGKILL', source, to)
      const both = ['--from', source.url, '--to', target.url]
      const again = run(...both, '--json')
      expect(await again.ended).toBe(0)
      const report = JSON.parse(again.output.out) as TransferReport
      expect(report).toMatchObject({ verified: true, takenBack: 0, differences: [] })
      // A page may have been in flight when its sender was killed.
      expect(report.there).toBeGreaterThanOrEqual(100)
      expect(report.there + report.transferred).toBe(JOBS)
      expect(report.checksums.source).toEqual(report.checksums.target)
      expect(report.checksums.source).toMatchObject({ jobs: { items: JOBS } })
      expect((await target.store.counts()).map((counts) => ({ ...counts, oldestReadyMs: 0 }))).toEqual(
        (await source.store.counts()).map((counts) => ({ ...counts, oldestReadyMs: 0 })),
      )
    },
  )

  test('one database with two names is refused, and --verify-only creates nothing', async () => {
    const source = await filled(await aFile(), 10)
    const file = source.url.replace(/^sqlite:/, '')
    const link = `${file}.link`
    symlinkSync(file, link)
    const other = run('--from', source.url, '--to', `sqlite:${link}`)
    expect(await other.ended).toBe(2)
    expect(other.output.err).toContain('is the same database as --from')
    const look = run('--from', source.url, '--to', `sqlite:${file}.none`, '--verify-only')
    expect(await look.ended).toBe(2)
    expect(existsSync(`${file}.none`)).toBe(false)
    const server = await filled(await aSchema(), 10)
    const address = new URL(server.url)
    address.hostname = address.hostname === 'localhost' ? '127.0.0.1' : 'localhost'
    const same = run('--from', server.url, '--to', address.href)
    expect(await same.ended).toBe(2)
    expect(same.output.err).toContain('is the same database as --from')
  })

  test('SIGINT stops it between two pages, and it prints how to continue', async () => {
    const { target, stopped } = await halfWay('SIGINT', await filled(await aFile()), aFile)
    expect(await stopped.ended).toBe(1)
    expect(stopped.output.err).toContain('is incomplete. Run the same command to continue')
    expect((await jobsOn(target)) % 10).toBe(0)
    expect(await jobsOn(target)).toBeLessThan(JOBS)
  })

  test.each([
    ['sqlite', aFile],
    ['postgres', aSchema],
  ])(
    'Outside a %s database with tables of an application is refused without --jobs-only',
    async (_, from) => {
      const source = await filled(await from(), 10)
      const schema = source.url.startsWith('sqlite:') ? null : new URL(source.url).searchParams.get('schema')
      const { tables } = await openTables<never>(source.url, {
        app: 'shop',
        steps: [
          async (db, { table }) =>
            void (await sql`CREATE TABLE ${table('shop_order')} (id text)`.execute(db)),
        ],
      })
      onTestFinished(() => tables.close())
      await tables.open()
      await tables.close()
      const absent = freshFile()
      const before = schema === null ? '' : `${schema}_shop.`
      const names = `${before}shop_migration, ${before}shop_order`
      await expect(ran('--from', source.url, '--to', absent)).rejects.toThrow(
        `has tables of shop, which are not copied: ${names}. Pass --jobs-only`,
      )
      expect(existsSync(absent)).toBe(false)
      const copied = await ran('--from', source.url, '--to', absent, '--jobs-only')
      expect(copied.code).toBe(0)
      expect(copied.err).toContain(`not copied: ${names}`)
      const compared = await ran('--from', source.url, '--to', absent, '--verify-only', '--json')
      expect(JSON.parse(compared.out)).toMatchObject({ verified: true, notCopied: names.split(', ') })
    },
  )

  test('Outside tables of the user in the file are named, and the jobs are copied', async () => {
    const source = await filled(await aFile(), 10)
    const own = new Sqlite(source.url.replace(/^sqlite:/, ''))
    own.exec('CREATE TABLE person (name TEXT)')
    own.close()
    const { code, err } = await ran('--from', source.url, '--to', freshFile())
    expect(code).toBe(0)
    expect(err).toContain('1 table of')
    expect(err).toContain('not copied: person.')
  })

  test('a running worker of the source is named, and nothing is transferred', async () => {
    const [source, target] = [await aFile(), await aFile()]
    const instance = anInstance({ label: 'web-1', leaseMs: 60_000 })
    await source.store.enqueue([aJob()])
    await source.store.instances.register(instance)
    const refused = run('--from', source.url, '--to', target.url)
    expect(await refused.ended).toBe(3)
    expect(refused.output.err).toContain(`instance web-1 (${instance.id}) is running on ${source.store.name}`)
    expect(await jobsOn(target)).toBe(0)
    const absent = freshFile()
    await expect(ran('--from', source.url, '--to', absent)).rejects.toThrow('is running on')
    await source.store.instances.deregister(instance.id)
    const [empty, nothing] = [await aFile(), await aFile()]
    await expect(ran('--from', empty.url, '--to', absent)).rejects.toThrow('has nothing to transfer')
    await nothing.store.close()
    await sqlite(nothing.url.replace('sqlite:', '')).tools.drop()
    await expect(ran('--from', source.url, '--to', nothing.url, '--verify-only')).rejects.toThrow(
      'has no Jobmill tables to compare',
    )
    expect(existsSync(absent)).toBe(false)
  })
})

function withoutPassword(url: string): string {
  const address = new URL(url)
  address.password = ''
  return address.href
}

/** Runs the command in this process. */
async function ran(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const output = { out: '', err: '' }
  const code = await transferCommand.run(parseCommand(['transfer', ...args], transferCommand, JOBMILL), {
    ...terminal,
    out: (line) => (output.out += `${line}\n`),
    err: (line) => (output.err += `${line}\n`),
  })
  return { code, ...output }
}

test('it prints what it did and what to do next, even with nothing left to do, and where the databases differ', async () => {
  const [source, target] = [await filled(await aFile(), 600), await aSchema()]
  const first = await ran('--from', source.url, '--to', target.url)
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toContain('returned 5 jobs')
  expect(first.out).toContain(`transferred 600 jobs, 0 already on the target`)
  expect(first.out).toContain(`set DATABASE_URL, or the store of your config, to ${target.store.name}`)
  const address = withoutPassword(target.url)
  expect(first.out.trimEnd().split('\n').at(-1)).toBe(`DATABASE_URL='${address}' jobmill start`)
  const equal = await ran('--from', source.url, '--to', target.url, '--verify-only')
  expect(equal.out).not.toContain('remove it')
  expect(equal.out.trimEnd().split('\n').at(-1)).toBe(`DATABASE_URL='${address}' jobmill start`)
  const second = await ran('--db', source.url, '--to', target.url)
  expect(second.code).toBe(0)
  expect(second.out).toContain(`transferred 0 jobs, 600 already on the target`)
  const late = aJob()
  await source.store.enqueue([late])
  const look = await ran('--from', source.url, '--to', target.url, '--verify-only')
  expect(look.code).toBe(1)
  expect(look.err).toContain(`job ${late.id} is missing on the target`)
  expect(look.err).not.toContain('during the transfer')
  expect(look.err.trimEnd().split('\n').at(-1)).toBe(
    `jobmill transfer --from ${source.url} --to '${address}'`,
  )
  expect(await jobsOn(target)).toBe(600)
})

test('invalid options are refused before anything is created', async () => {
  const [source, missing, target] = [await aFile(), freshFile(), freshFile()]
  const { url } = source
  await expect(ran('--from', url)).rejects.toThrow('--to: is missing')
  await expect(ran('--from', url, '--to', url)).rejects.toThrow('is the same database as --from')
  await expect(ran('--from', `sqlite:${missing}`, '--to', target)).rejects.toThrow(
    `file not found: ${missing}`,
  )
  await expect(ran('--from', url, '--db', url, '--to', target)).rejects.toThrow(
    'both select the source database',
  )
  await expect(ran('--from', url, '--to', target, '--batch', 'many')).rejects.toThrow('--batch')
  expect([missing, target].filter((file) => existsSync(file))).toEqual([])
})

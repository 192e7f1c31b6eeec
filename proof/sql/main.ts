/**
 * `npm run prove:sql`: a producer with no JavaScript. Runs statements of docs/learn/sql.md with psql, or with
 * a driver if psql is missing, and checks that a mill runs the jobs. Fails if one is lost, or starts later
 * than the page says.
 */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { closers, interrupted } from '../closing.ts'

/** What the page says, and some time for a busy machine. */
const MOST_MS = 2_500 + 2_500
const MANY = 1_000

type Run = (sql: string) => Promise<string>

const hasPsql = spawnSync('psql', ['--version']).status === 0
const psql =
  (url: string): Run =>
  async (sql) =>
    (await promisify(execFile)('psql', [url, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', sql])).stdout.trim()

/** The last value of the last row, as psql prints it. */
const driver =
  (url: string): Run =>
  async (sql) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const answer: unknown = await client.query(sql)
      const { rows } = (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryResult<object>
      return String(Object.values(rows.at(-1) ?? {}).at(-1) ?? '')
    } finally {
      await client.end()
    }
  }

/** A statement of the page, by a text that it contains. */
const page = readFileSync(new URL('../../docs/learn/sql.md', import.meta.url), 'utf8')
function blockWith(text: string): string {
  const blocks = [...page.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, block = '']) => block)
  const block = blocks.find((one) => one.includes(text))
  if (block === undefined) throw new Error(`docs/learn/sql.md has no block with "${text}"`)
  return block
}

const asProducer = (sql: string): string => `SET ROLE producer; ${sql}`

function check(what: string, isTrue: boolean): void {
  console.log(`${isTrue ? 'ok    ' : 'FAILED'}  ${what}`)
  if (!isTrue) throw new Error(what)
}

async function isRefused(run: Run, sql: string, reason: RegExp): Promise<boolean> {
  return run(sql).then(
    () => false,
    (error: unknown) => reason.test(String(error)),
  )
}

async function prove(url: string, run: Run): Promise<void> {
  const send = defineJob({
    kind: 'email.send',
    queue: 'mail',
    run: ({ payload }: JobContext<{ to: string }>) => payload.to,
  })
  const wait = defineJob({ kind: 'wait', run: ({ step }) => step.waitForEvent('paid', { timeout: '1h' }) })
  const mill = jobmill({ store: postgres(url), jobs: [send, wait], log: 'silent' })
  add(() => mill.stop())
  await mill.start()

  const began = performance.now()
  const id = await run(`SELECT jobmill.enqueue('email.send', '{"to": "ada@example.com"}')`)
  const to = await mill.job(send, id).result({ timeout: MOST_MS })
  const ms = Math.round(performance.now() - began)
  check(`a job from SQL ran after ${ms} ms`, to === 'ada@example.com')
  check('its queue is that of its kind', (await mill.get(id))?.queue === 'mail')

  await run(`CREATE TABLE account (email text); ${blockWith('CREATE TRIGGER')}`)
  await run(`BEGIN; INSERT INTO account VALUES ('lost@example.com'); ROLLBACK`)
  await run(`INSERT INTO account VALUES ('eve@example.com')`)
  const isDone = async (): Promise<boolean> => (await mill.count({ state: 'done' })).jobs === 2
  const until = performance.now() + MOST_MS
  while (!(await isDone()) && performance.now() < until) await new Promise((next) => setTimeout(next, 50))
  const { jobs } = await mill.list({ kind: 'email.send' }, { include: ['payload'] })
  const sentTo = jobs.map(({ payload }) => (payload as { to: string }).to).toSorted()
  check(
    'a trigger enqueued a job, and a rollback removed one',
    sentTo.join() === 'ada@example.com,eve@example.com',
  )

  const waiting = await run(`SELECT jobmill.enqueue('wait')`)
  await run(`SELECT jobmill.send_event('${waiting}', 'paid', '{"by": "card"}')`)
  const event = await mill.job(waiting).result({ timeout: MOST_MS })
  check('an event from SQL continued a job', JSON.stringify(event) === '{"by":"card"}')

  const later = await run(`SELECT jobmill.enqueue('email.send', '{"to": "x"}', '{"delay": "1h"}')`)
  check(
    'a cancel from SQL cancelled a job',
    (await run(`SELECT jobmill.cancel('${later}', 'not wanted')`)) === 'cancelled',
  )

  await run(blockWith('CREATE ROLE producer'))
  await run(asProducer(`SELECT jobmill.enqueue('email.send', '{"to": "role"}', '{"delay": "1h"}')`))
  for (const sql of [
    'SELECT id FROM jobmill.job',
    'DELETE FROM jobmill.ready',
    `SELECT jobmill.kind_id('x')`,
  ])
    check(`a producer must not run: ${sql}`, await isRefused(run, asProducer(sql), /permission denied/))
  const typo = `SELECT jobmill.enqueue('email.send', '{}', '{"dely": "1h"}')`
  check('a typo in an option is refused', await isRefused(run, typo, /unknown option "dely"/))

  const start = performance.now()
  await run(`SELECT count(jobmill.enqueue('bulk', to_json(n))) FROM generate_series(1, ${MANY}) AS n`)
  const bySql = performance.now() - start
  const items = Array.from({ length: MANY }, (_, n) => ({ payload: n }))
  const then = performance.now()
  await mill.enqueueMany('bulk', items)
  const byCode = performance.now() - then
  console.log(
    `${MANY} jobs: ${Math.round(bySql)} ms with one SELECT, ${Math.round(byCode)} ms with enqueueMany`,
  )
}

const { add, close } = closers('sql')
try {
  const server = await startPostgres({ binaries: 'current' })
  add(() => server.stop())
  console.log(`producer: ${hasPsql ? 'psql' : 'a driver, because psql is missing'}`)
  const run = hasPsql ? psql(server.url) : driver(server.url)
  await Promise.race([prove(server.url, run), interrupted(new AbortController())])
  process.exitCode = 0
} catch (error) {
  console.error(`sql: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await close()
}
process.exit()

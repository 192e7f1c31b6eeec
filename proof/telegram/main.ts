/**
 * `npm run prove:telegram`: the gateway under load, on SQLite and PostgreSQL. Many chats write in parallel,
 * Telegram repeats some updates, the handler fails at times, the process is killed and the database
 * restarted. Afterwards every update must be handled and answered, in order per chat. Handler runs and
 * replies are counted separately, because each can repeat without the other.
 *
 *   npm run prove:telegram -- [--chats 2000] [--updates 20] [--store sqlite|postgres] [--json FILE]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { closers, interrupted } from '../closing.ts'
import { load, type LoadReport } from './load.ts'

const { values } = parseArgs({
  options: {
    chats: { type: 'string', default: '2000' },
    updates: { type: 'string', default: '20' },
    store: { type: 'string' },
    json: { type: 'string' },
  },
})
const size = { chats: Number(values.chats), updates: Number(values.updates) }
const closing = closers('prove:telegram')

async function prove(): Promise<LoadReport[]> {
  const reports: LoadReport[] = []
  if (values.store !== 'postgres') {
    const folder = mkdtempSync(path.join(tmpdir(), 'prove-telegram-'))
    closing.add(async () => rmSync(folder, { recursive: true, force: true }))
    const database = path.join(folder, 'telegram.db')
    // A file has no server to restart, so the process is killed a second time instead.
    reports.push(await load({ ...size, store: 'sqlite', database, restart: null }, closing))
  }
  if (values.store !== 'sqlite') {
    // Default settings: every commit is synced.
    const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })
    closing.add(() => server.stop())
    const restart = (): Promise<void> => server.restart()
    reports.push(await load({ ...size, store: 'postgres', database: server.url, restart }, closing))
  }
  return reports
}

async function proveAndClose(): Promise<LoadReport[]> {
  try {
    return await Promise.race([prove(), interrupted(new AbortController())])
  } finally {
    await closing.close()
  }
}

const reports = await proveAndClose()
console.log(
  `\nLoad of the machine ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')}\n`,
)
console.log(
  '| store | updates | webhooks | a second | p50 | p99 | with kill and restart: a second | p99 | not taken at first | repeats recognised | handler runs | failed on purpose | handled again | runs out of order | not handled | answered | twice | out of order | lost |',
)
console.log(`|${'---|'.repeat(19)}`)
for (const one of reports)
  console.log(
    `| ${one.store} | ${one.updates} | ${one.webhooks} | ${one.steady.perSecond} | ${one.steady.p50Ms} ms | ${one.steady.p99Ms} ms | ${one.whole.perSecond} | ${one.whole.p99Ms} ms | ${one.refused} | ${one.repeats} | ${one.runs} | ${one.failedRuns} | ${one.again} | ${one.runsOutOfOrder} | ${one.unhandled} | ${one.answered} | ${one.twice} | ${one.outOfOrder} | ${one.lost} |`,
  )
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(reports, null, 2))
const isKept = reports.every((one) => one.lost + one.outOfOrder + one.unhandled + one.runsOutOfOrder === 0)
const isBounded = reports.every((one) => one.twice <= one.most && one.again <= one.mostAgain)
console.log(
  isKept ? '\nNothing was lost, and everything was in order.' : '\nUpdates were lost or out of order.',
)
if (!isBounded)
  console.log(
    'More updates were handled again or answered twice than were in flight at the kill and the restart.',
  )
process.exit(isKept && isBounded ? 0 : 1)

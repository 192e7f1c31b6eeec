/**
 * Measures the API with 1,000,000 jobs in the store: autocannon on enqueue and on lists, and the cost of the
 * first page and of the thousandth. The server is a separate process, started as by `jobmill start
 * --no-work`. Both stores in one run.
 *
 *   npm run bench:http -- [--jobs 1000000] [--seconds 10] [--connections 20] [--json FILE]
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { jobmill, type FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { startPostgresServer } from '../servers/postgres.ts'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '20' },
    json: { type: 'string' },
  },
})
const JOBS = Number(values.jobs)
const SECONDS = Number(values.seconds)
const CONNECTIONS = Number(values.connections)
const PAGES = 1_000
const BATCH = 1_000

interface Figures {
  readonly store: string
  readonly what: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

interface Pages {
  readonly store: string
  readonly firstMs: number
  readonly lastMs: number
  /** Rows that the database read for a page. */
  readonly firstRows: number
  readonly lastRows: number
}

/** Ready jobs of ten kinds, in a queue without workers. */
async function fill(store: FullStore<never>): Promise<void> {
  const mill = jobmill({ store, log: 'silent' })
  for (let done = 0; done < JOBS; done += BATCH) {
    const items = Array.from({ length: BATCH }, (_, n) => ({ payload: { n: done + n }, queue: 'full' }))
    await mill.enqueueMany(`kind.${(done / BATCH) % 10}`, items)
    if (done % 100_000 === 0)
      console.log(`  ${done.toLocaleString('en')} of ${JOBS.toLocaleString('en')} jobs written`)
  }
  await mill.stop()
}

async function serving(db: string): Promise<{ url: string; child: ChildProcess }> {
  const main = path.join(import.meta.dirname, '../../packages/jobmill/dist/cli/main.js')
  const args = [
    main,
    'start',
    '--no-work',
    '--port',
    '0',
    '--db',
    db,
    '--log',
    'text',
    '--level',
    'error',
    '--requests-per-second',
    '1000000',
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: tmpdir() })
  let output = ''
  for (;;) {
    const [data] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown]
    output += String(data)
    const [, url] = /api {5}(\S+)\/api\/overview/.exec(output) ?? []
    if (url !== undefined) return { url, child }
    if (child.exitCode !== null) throw new Error(`the server ended: ${output}`)
  }
}

async function load(store: string, what: string, options: object): Promise<Figures> {
  // Import by a variable name, which the compiler does not follow: the package has no types and is installed
  // only in bench/.
  const name: string = 'autocannon'
  const { default: autocannon } = (await import(name)) as {
    default: (options: object) => Promise<{
      requests: { average: number }
      latency: { p50: number; p99: number }
      non2xx: number
      errors: number
    }>
  }
  const { requests, latency, non2xx, errors } = await autocannon({
    connections: CONNECTIONS,
    duration: SECONDS,
    ...options,
  })
  const figures = {
    store,
    what,
    perSecond: requests.average,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    failed: non2xx + errors,
  }
  console.log(
    `${store.padEnd(9)} ${what.padEnd(28)} ${Math.round(figures.perSecond)} /s   p50 ${figures.p50Ms} ms   p99 ${figures.p99Ms} ms   ${figures.failed} failed`,
  )
  return figures
}

function median(some: readonly number[]): number {
  return some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? Number.NaN
}

/** Requests one page after the other by cursor. */
async function turnPages(store: string, url: string): Promise<Pages> {
  const times: number[] = []
  const rows: number[] = []
  let cursor: string | null = null
  for (let n = 0; n < PAGES; n += 1) {
    const began = performance.now()
    const response: Response = await fetch(
      `${url}/api/jobs?queue=full&state=ready&limit=50${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    const page = (await response.json()) as { next: string | null; scanned: number }
    times.push(performance.now() - began)
    rows.push(page.scanned)
    cursor = page.next
    if (cursor === null) throw new Error(`there were only ${n + 1} pages`)
  }
  // The first pages only warm the server up.
  const pages = {
    store,
    firstMs: median(times.slice(50, 150)),
    lastMs: median(times.slice(-100)),
    firstRows: rows[0] ?? 0,
    lastRows: rows.at(-1) ?? 0,
  }
  console.log(
    `${store.padEnd(9)} a page of 50                 ${pages.firstMs.toFixed(2)} ms at page 100, ${pages.lastMs.toFixed(2)} ms at page ${PAGES}; rows read: ${pages.firstRows} and ${pages.lastRows}`,
  )
  return pages
}

async function measure(
  name: string,
  store: FullStore<never>,
  db: string,
): Promise<{ loads: Figures[]; pages: Pages }> {
  console.log(`${name}: filling`)
  await fill(store)
  const { url, child } = await serving(db)
  try {
    const list = await load(name, 'list, first page', { url: `${url}/api/jobs?limit=50` })
    const filtered = await load(name, 'list of a queue and state', {
      url: `${url}/api/jobs?queue=full&state=ready&limit=50`,
    })
    const overview = await load(name, 'overview', { url: `${url}/api/overview` })
    const scrape = await load(name, 'metrics', { url: `${url}/metrics`, connections: 1 })
    const pages = await turnPages(name, url)
    const enqueue = await load(name, 'enqueue', {
      url: `${url}/api/jobs`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'bench', queue: 'other', payload: { hello: 'world' } }),
    })
    return { loads: [enqueue, list, filtered, overview, scrape], pages }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-bench-'))
const server = await startPostgresServer()
try {
  const file = path.join(folder, 'jobs.db')
  const results = [
    await measure('sqlite', sqlite(file), `sqlite:${file}`),
    await measure('postgres', postgres(server.url), server.url),
  ]
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Handlers in another language: `workerPool` keeps children alive and gives each one job at a time, as a line of JSON. Here they run
 * worker.py; where there is no Python, worker.mjs, which speaks the same protocol.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { jobmill, workerPool } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'

const beside = (name: string): string => path.join(import.meta.dirname, name)
const hasPython = spawnSync('python3', ['--version']).status === 0
console.log(hasPython ? 'children   python3 worker.py' : 'children   no python3 here, so node worker.mjs')

const countWords = workerPool<{ text?: string }, { words: number }>({
  kind: 'text.count',
  argv: hasPython ? ['python3', beside('worker.py')] : [process.execPath, beside('worker.mjs')],
  size: 2,
})

const mill = jobmill({ store: sqlite(':memory:'), jobs: [countWords], log: 'silent' })
await mill.start()

const texts = ['one', 'one two', 'one two three']
const jobs = await mill.enqueueMany(
  countWords,
  texts.map((text) => ({ payload: { text } })),
)
const counts = await Promise.all(jobs.map((job) => job.result()))
console.log(`done       ${counts.map(({ words }) => words).join(', ')} words`)

// The child answers that no further attempt can help.
const empty = await mill.enqueue(countWords, {})
await empty.result().catch((error: unknown) => console.log(`dead       ${String(error)}`))

await mill.stop()

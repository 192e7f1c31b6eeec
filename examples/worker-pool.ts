/**
 * Handlers in another language: `workerPool` keeps child processes alive and gives each one job at a time, as
 * a line of JSON. Runs worker.py, or worker.mjs if there is no Python.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { jobmill, workerPool } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'

const beside = (name: string): string => path.join(import.meta.dirname, name)
const hasPython = spawnSync('python3', ['--version']).status === 0
console.log(
  hasPython ? 'children   python3 worker.py' : 'children   python3 not found, using node worker.mjs',
)

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

// The child reports that a retry cannot help.
const empty = await mill.enqueue(countWords, {})
await empty.result().catch((error: unknown) => console.log(`dead       ${String(error)}`))

await mill.stop()

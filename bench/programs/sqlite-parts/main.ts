/**
 * Shows where the time of a job on SQLite goes, in parts that add up to the whole: the pickup of a single job
 * in the same process, and the CPU time of a drain. Reads clocks only where a job passes a seam: the calls of
 * the store, of the driver and of setImmediate.
 *
 *   npm run bench:sqlite-parts -- [--jobs 500] [--apart 20] [--drain 100000]
 *
 * `--apart 0` enqueues each job when the previous one has ended, after 6,000 others.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { measureDrain } from './drain.ts'
import { measureInsert, measurePickup } from './pickup.ts'
import type { Parts } from './parts.ts'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '500' },
    apart: { type: 'string', default: '20' },
    drain: { type: 'string', default: '100000' },
  },
})
const [jobs, apartMs, drained] = [values.jobs, values.apart, values.drain].map(Number) as [
  number,
  number,
  number,
]

function show(title: string, parts: Parts): void {
  const total = Object.values(parts).reduce((sum, one) => sum + one, 0)
  console.log(`\n${title}\n\n| part | µs |\n|---|---|`)
  for (const [part, us] of [...Object.entries(parts), ['total', total] as const])
    console.log(`| ${part} | ${us < 20 ? us.toFixed(2) : us.toFixed(0)} |`)
}

const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-parts-'))
const fileOf = (name: string): string => path.join(folder, `${name}.db`)
try {
  if (jobs > 0) {
    show(`An INSERT with its sync, ${apartMs} ms apart`, await measureInsert(fileOf('bare'), jobs, apartMs))
    show(
      `Pickup in the same process, ${apartMs} ms apart: the middle fifth of ${jobs} jobs`,
      await measurePickup(fileOf('pickup'), jobs, apartMs),
    )
  }
  if (drained > 0) show(`CPU of a drained job, ${drained} jobs`, await measureDrain(fileOf('drain'), drained))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

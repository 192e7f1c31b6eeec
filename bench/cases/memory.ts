// Memory: the peak of a process that opens a queue with 100,000 ready jobs and drains it, and the memory of
// the server during that time. Shared pages count once.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { fillApart } from './drain.ts'

/** In /proc a kilobyte is 1,024 bytes. */
const KB_PER_MB = 1_000_000 / 1_024

export const memoryCase: Case = {
  names: ['memory'],
  async run(cell) {
    await fillApart(cell)
    const worker = await cell.startWorker()
    const opened = kilobytes(`/proc/${worker.pid}/status`, 'VmRSS')
    const server = cell.server === undefined ? undefined : treeKilobytes(cell.server.pid)
    await worker.work()
    while ((await worker.count()) < cell.jobs) await sleep(20)
    const { ran } = await worker.settle()
    const most = kilobytes(`/proc/${worker.pid}/status`, 'VmHWM')
    const delivered = deliveries(cell.jobs)
    for (const n of ran) delivered.ran(n)
    delivered.check()
    return [
      figure('memory', most),
      figure('memory-opened', opened),
      ...(server === undefined ? [] : [figure('memory-server', server)]),
    ]
  },
}

function figure(name: string, kilobytes: number): Figure {
  return { case: name, unit: 'MB', value: kilobytes / KB_PER_MB }
}

/** Reads one line of a file in /proc, such as `VmRSS:  1234 kB`. */
function kilobytes(file: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1]
  if (found === undefined) throw new Error(`${file} has no ${name}`)
  return Number(found)
}

/** The memory of a process and its children, with shared pages divided among them. */
function treeKilobytes(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/)
  const pids = [pid, ...children.filter((child) => child !== '').map(Number)]
  return pids.reduce((total, one) => total + kilobytes(`/proc/${one}/smaps_rollup`, 'Pss'), 0)
}

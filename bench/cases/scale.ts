// Cases scale-1, -2 and -4: that many processes drain a queue that stays full. Measured after a warm-up, for
// a fixed time or until the queue is nearly empty, so that neither the start nor the end of a drain counts.
// Also shows how many commits and claims that took, and what the sessions of the server waited for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, WorkerProcess } from '../case.ts'
import { cpuOfTree } from '../measure/cpu.ts'
import { diskFigures, readDisk } from '../measure/disk.ts'
import { measureUsage } from '../measure/usage.ts'
import { watchWaits } from '../measure/waits.ts'
import { fillApart, fillFigures } from './drain.ts'

const PROCESSES: Readonly<Record<string, number>> = { 'scale-1': 1, 'scale-2': 2, 'scale-4': 4 }
const LOOK_EVERY_MS = 20
/** The measurement ends when fewer jobs than this share are left, because processes then begin to starve. */
const LAST_SHARE = 0.1

export const scaleCase: Case = {
  names: Object.keys(PROCESSES),
  warmsUp: true,
  async run(cell) {
    const empty = await readDisk(cell)
    const filled = await fillApart(cell)
    const full = await readDisk(cell)
    const workers: WorkerProcess[] = []
    for (let n = 0; n < (PROCESSES[cell.case] ?? 1); n += 1) workers.push(await cell.startWorker())
    const ran = async (): Promise<number> => sum(await Promise.all(workers.map((worker) => worker.count())))
    const clientCpu = (): number => sum(workers.map(({ pid }) => cpuOfTree(pid)))
    await Promise.all(workers.map((worker) => worker.work()))
    await sleep(cell.warmUpSeconds * 1_000)
    const endWaits = await watchWaits(cell)
    const end = await measureUsage(cell)
    const before = { ran: await ran(), cpu: clientCpu(), at: performance.now() }
    let after = before
    while (after.at - before.at < cell.seconds * 1_000 && after.ran < cell.jobs * (1 - LAST_SHARE)) {
      await sleep(LOOK_EVERY_MS)
      after = { ran: await ran(), cpu: clientCpu(), at: performance.now() }
    }
    const { server, wal } = await end()
    const jobs = after.ran - before.ran
    const waits = await endWaits(jobs)
    if (jobs === 0) throw new Error(`no job ran after the warm-up of ${cell.warmUpSeconds} s`)
    const results = await Promise.all(workers.map((worker) => worker.settle()))
    const runs = results.flatMap((one) => one.ran)
    if (new Set(runs).size !== runs.length) throw new Error('delivery is not exact: a job ran twice')
    // Nothing is enqueued any more, so the rest of the space is what the drained jobs added and gave back.
    await Promise.all(workers.map((worker) => worker.stop()))
    const drained = await readDisk(cell)
    const vacuumed = await readDisk(cell, { vacuum: true })
    const name = cell.case
    return [
      { case: name, unit: 'jobs/s', value: (jobs / (after.at - before.at)) * 1_000 },
      { case: `${name}-cpu-client`, unit: 'µs/job', value: (after.cpu - before.cpu) / jobs },
      { case: `${name}-cpu-server`, unit: 'µs/job', value: server / jobs },
      ...(wal === undefined ? [] : [{ case: `${name}-wal`, unit: 'bytes/job', value: wal / jobs }]),
      ...waits,
      ...fillFigures(name, cell.jobs, filled),
      ...diskFigures(name, cell.jobs, empty, full, '-waiting'),
      ...diskFigures(name, runs.length, full, drained, '-drained'),
      ...diskFigures(name, runs.length, full, vacuumed, '-vacuumed'),
    ]
  },
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

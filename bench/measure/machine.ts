// The machine that the figures are of: what it is, what it is busy with, and how fast its disk makes things safe.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, machine, release, tmpdir, totalmem } from 'node:os'
import path from 'node:path'
import { percentile } from './percentile.ts'

export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  /** What one write of 8 kB takes until it is on the disk, in µs: the median of 200. */
  readonly syncUs: number
  /** Processes that ran or wanted to, over the last minute, before the first cell. */
  readonly loadBefore: number
}

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: `${processorName()} (${machine()})`,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `Linux ${release()}`,
    node: process.version,
    syncUs: Math.round(syncTime()),
    loadBefore: loadNow(),
  }
}

export const loadNow = (): number => Number((loadavg()[0] ?? 0).toFixed(2))

function processorName(): string {
  const [first] = cpus()
  if (first !== undefined && first.model !== '' && first.model !== 'unknown') return first.model
  // Where the kernel has no name for it, the number that its maker gave it.
  const part = /CPU part\s*:\s*(\S+)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  return part === '0xd0c' ? 'Neoverse-N1' : `processor ${part ?? 'without a name'}`
}

/** Where the servers keep their data too. */
function syncTime(): number {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-bench-'))
  const file = openSync(path.join(folder, 'sync'), 'w')
  const block = Buffer.alloc(8_192)
  const times = Array.from({ length: 200 }, () => {
    const began = performance.now()
    writeSync(file, block, 0, block.length, 0)
    fdatasyncSync(file)
    return (performance.now() - began) * 1_000
  })
  closeSync(file)
  rmSync(folder, { recursive: true, force: true })
  return percentile(times, 0.5)
}

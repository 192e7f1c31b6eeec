// Describes the machine of a run: its hardware, its load, and how fast its disk syncs.
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
  /** How long a synced write of 8 kB takes, in µs: the median of 200. */
  readonly syncUs: number
  /** Load average of the last minute, before the first cell. */
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
  // When the kernel has no model name, use the part number of the manufacturer.
  const part = /CPU part\s*:\s*(\S+)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  return part === '0xd0c' ? 'Neoverse-N1' : `processor ${part ?? 'without a name'}`
}

/** Measures on the disk where the servers keep their data. */
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

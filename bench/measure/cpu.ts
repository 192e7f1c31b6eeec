// Processor time of other processes, from /proc, in µs. Linux counts it in ticks of 10 ms.
import { readFileSync } from 'node:fs'

const TICK_US = 10_000

/**
 * What a process and all that it started have used so far. Those that ended are in the sum that their parent keeps, so
 * nothing is missed when PostgreSQL ends a backend.
 */
export function cpuOfTree(pid: number): number {
  return ticksOf(pid) * TICK_US + sum(childrenOf(pid).map(cpuOfTree))
}

/** Counts what others have used since: the answer is in cores, for the time until it is asked. */
export function noiseMeter(): () => number {
  const before = cpuOfOthers()
  const began = performance.now()
  return () => Math.max(0, (cpuOfOthers() - before) / 1_000 / (performance.now() - began))
}

const cpuOfOthers = (): number => cpuOfMachine() - cpuOfTree(process.pid)

/** What the whole machine has been busy with so far, whoever it was. */
export function cpuOfMachine(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) * TICK_US
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in brackets and may hold anything; the counters are the 14th to 17th field.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return sum(fields.slice(11, 15))
  } catch {
    // It ended meanwhile; its parent has the sum.
    return 0
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  } catch {
    return []
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

// Reads the CPU time of other processes from /proc, in µs. Linux counts it in ticks of 10 ms.
import { readFileSync } from 'node:fs'

const TICK_US = 10_000

/**
 * The CPU time of a process and all its descendants. A parent keeps the sum of its ended children, so nothing
 * is lost when PostgreSQL ends a backend.
 */
export function cpuOfTree(pid: number): number {
  return ticksOf(pid) * TICK_US + sum(childrenOf(pid).map(cpuOfTree))
}

/**
 * Starts measuring the CPU time of unrelated processes. The returned function gives its average in cores
 * since then.
 */
export function noiseMeter(): () => number {
  const before = cpuOfOthers()
  const began = performance.now()
  return () => Math.max(0, (cpuOfOthers() - before) / 1_000 / (performance.now() - began))
}

const cpuOfOthers = (): number => cpuOfMachine() - cpuOfTree(process.pid)

/** The CPU time of all processes of the machine so far. */
export function cpuOfMachine(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) * TICK_US
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program name is in parentheses and may contain any character; the counters are fields 14 to 17.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return sum(fields.slice(11, 15))
  } catch {
    // The process has ended; its parent has the sum.
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

// Collects the results of the cells of a run: figures, failures, notes and the systems that took part.
import type { PlannedCell } from '../plan/plan.ts'
import type { Raw } from '../report/figures.ts'
import type { AboutSystem, Findings, Remark } from '../report/report.ts'
import type { RunResult } from './run-cell.ts'

export interface Collector {
  add(cell: PlannedCell, result: RunResult): void
  /** True when this system already took too long in this case, since it would again. */
  hasGivenUp(cell: PlannedCell): boolean
  results(): Pick<Findings, 'systems' | 'figures' | 'failures' | 'notes'>
}

export function collector(): Collector {
  const systems = new Map<string, AboutSystem>()
  const figures: Raw[] = []
  const failures: Remark[] = []
  const notes = new Map<string, Remark>()
  const givenUp = new Set<string>()
  return {
    hasGivenUp: (cell) => givenUp.has(keyOf(cell)),
    add(cell, { figures: own, notes: words, error, about, timedOut }) {
      const { case: name, store, system, setting, jobs } = cell
      const remark = (text: string): Remark => ({ case: name, store, system, setting, text })
      if (error !== undefined) failures.push(remark(`round ${cell.round + 1}: ${error}`))
      if (timedOut) givenUp.add(keyOf(cell))
      for (const text of words) notes.set(`${keyOf(cell)} ${text}`, remark(text))
      figures.push(...own.map((one) => ({ ...one, store, system, setting, jobs })))
      if (about) systems.set([system, store, setting].join(' '), { system, store, setting, ...about })
    },
    results: () => ({ systems: [...systems.values()], figures, failures, notes: [...notes.values()] }),
  }
}

const keyOf = ({ case: name, system, store, setting }: PlannedCell): string =>
  [name, system, store, setting].join(' ')

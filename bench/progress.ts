// Prints one line per cell: progress, the figure, and the estimated time left.
import type { PlannedCell } from './plan/plan.ts'
import { numberText } from './report/markdown.ts'
import type { RunResult } from './cell/run-cell.ts'

export interface Progress {
  done(cell: PlannedCell, result: RunResult): void
  skipped(): void
}

export function progress(cells: readonly PlannedCell[]): Progress {
  const total = cells.length
  const began = performance.now()
  let done = 0
  return {
    skipped: () => void (done += 1),
    done(cell, { figures, error, seconds }) {
      done += 1
      const left = ((performance.now() - began) / 60_000 / done) * (total - done)
      const [first] = figures
      const result = error ?? (first === undefined ? 'nothing' : `${numberText(first.value)} ${first.unit}`)
      const at = `[${String(done).padStart(String(total).length)}/${total}]`
      const who = `${cell.case.padEnd(14)} ${cell.system} (${cell.store}, ${cell.setting})`
      console.log(
        `${at} ${who.padEnd(50)} ${result}   ${seconds.toFixed(1)} s, about ${left.toFixed(1)} min left`,
      )
    },
  }
}

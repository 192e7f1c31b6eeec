/** The tables of results, and whether all are within their bounds. */
import { effortText } from './effort.ts'
import type { PageTimes } from './measure.ts'
import type { StoreName } from './options.ts'
import type { TaskResult } from './perform.ts'

export interface StoreResults {
  readonly store: StoreName
  readonly pages: readonly PageTimes[]
  readonly tasks: readonly TaskResult[]
}

const MOST_MS = 1_000

export function isProved({ pages, tasks }: StoreResults): boolean {
  return pages.every(({ medianMs }) => medianMs <= MOST_MS) && tasks.every(({ problem }) => problem === null)
}

export function taskLine(
  store: StoreName,
  { id, name, ours, needs, rival, ms, problem }: TaskResult,
): string {
  const figures = [
    store.padEnd(8),
    id.padEnd(3),
    name.padEnd(48),
    (ours === null ? '–' : effortText(ours)).padEnd(18),
    `${effortText(needs)} (${rival})`.padEnd(60),
    `${(ms / 1_000).toFixed(1)} s`.padStart(7),
  ]
  return `${figures.join('  ')}${problem === null ? '' : `\n          FAILED: ${problem}`}`
}

export function pageLine(store: StoreName, { name, medianMs, slowestMs }: PageTimes): string {
  const slow = medianMs > MOST_MS ? '   TOO SLOW' : ''
  return `${store.padEnd(8)}  ${name.padEnd(44)} ${String(medianMs).padStart(6)} ms   slowest ${slowestMs} ms${slow}`
}

export function report(results: readonly StoreResults[]): string {
  return [
    '',
    `${'store'.padEnd(8)}  ${'task'.padEnd(53)}  ${'ours'.padEnd(18)}  ${'best rival'.padEnd(60)}     time`,
    ...results.flatMap(({ store, tasks }) => tasks.map((task) => taskLine(store, task))),
    '',
    ...results.flatMap(({ store, pages }) => pages.map((page) => pageLine(store, page))),
  ].join('\n')
}

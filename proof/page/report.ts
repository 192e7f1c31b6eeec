/** The tables of results, and whether all are within their bounds. */
import { effortText } from './effort.ts'
import type { IdleCost } from './idle.ts'
import type { PageTimes } from './measure.ts'
import type { StoreName } from './options.ts'
import type { TaskResult } from './perform.ts'

export interface StoreResults {
  readonly store: StoreName
  readonly pages: readonly PageTimes[]
  /** Null if only some tasks were performed. */
  readonly idle: IdleCost | null
  readonly tasks: readonly TaskResult[]
}

const MOST_MS = 1_000
/** As a share of a core. */
const MOST_IDLE = 0.01

const isFast = ({ medianMs }: PageTimes): boolean => medianMs <= MOST_MS
const isCheap = (idle: IdleCost | null): boolean => idle === null || idle.ofTab <= MOST_IDLE
const isDone = ({ problem }: TaskResult): boolean => problem === null

export function isProved({ pages, idle, tasks }: StoreResults): boolean {
  return pages.every(isFast) && isCheap(idle) && tasks.every(isDone)
}

/** The line that is printed when a task has ended. */
export function taskLine(store: StoreName, { id, name, ours, ms, problem }: TaskResult): string {
  const figures = [
    store.padEnd(8),
    id.padEnd(3),
    name.padEnd(WIDTHS.name),
    (ours === null ? '–' : effortText(ours)).padEnd(WIDTHS.effort),
    `${(ms / 1_000).toFixed(1)} s`.padStart(7),
  ]
  return [figures.join('  '), ...(problem === null ? [] : [indented(`FAILED: ${problem}`)])].join('\n')
}

const indented = (text: string): string => text.replaceAll(/^/gm, '          ')

export function pageLine(store: StoreName, page: PageTimes): string {
  const { name, medianMs, slowestMs } = page
  const slow = isFast(page) ? '' : '   TOO SLOW'
  return `${store.padEnd(8)}  ${name.padEnd(44)} ${String(medianMs).padStart(6)} ms   slowest ${slowestMs} ms${slow}`
}

export function idleLine(store: StoreName, idle: IdleCost): string {
  const { seconds, withoutTab, withTab, ofTab } = idle
  const much = isCheap(idle) ? '' : '   TOO MUCH'
  return `${store.padEnd(8)}  an idle tab costs the server ${percent(ofTab)} of a core (${percent(withTab)} in ${seconds} s with it, ${percent(withoutTab)} without)${much}`
}

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`

const NAMES: Readonly<Record<StoreName, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
const WIDTHS = { name: 50, effort: 21 } as const

export function report(results: readonly StoreResults[]): string {
  const wrong = results.flatMap(problems)
  return [
    '',
    ...results.flatMap(({ store, pages }) => pages.map((page) => pageLine(store, page))),
    ...results.flatMap(({ store, idle }) => (idle === null ? [] : ['', idleLine(store, idle)])),
    '',
    ...taskTable(results),
    '',
    wrong.length === 0 ? 'Everything is within its bound.' : `Not within their bounds: ${wrong.join(', ')}`,
  ].join('\n')
}

const cells = (task: string, ours: readonly string[], rival: string): string =>
  [task.padEnd(WIDTHS.name + 5), ...ours.map((text) => text.padEnd(WIDTHS.effort)), rival].join('  ')

/** A row for each task: ours on each store against the best rival. */
function taskTable(results: readonly StoreResults[]): string[] {
  const [first] = results
  const heads = results.map(({ store }) => NAMES[store])
  return [
    cells('task', heads, 'best rival'),
    ...(first?.tasks ?? []).map(({ id, name, needs, rival }) =>
      cells(
        `${id.padEnd(3)}  ${name}`,
        results.map(({ tasks }) => outcomeOf(tasks.find((one) => one.id === id))),
        `${effortText(needs)} (${rival})`,
      ),
    ),
  ]
}

function outcomeOf(task: TaskResult | undefined): string {
  if (task === undefined) return '–'
  const effort = task.ours === null ? '' : effortText(task.ours)
  return task.problem === null ? effort : `${effort} FAILED`.trim()
}

function problems({ store, pages, idle, tasks }: StoreResults): string[] {
  return [
    ...pages.filter((page) => !isFast(page)).map(({ name }) => `${name} (${store})`),
    ...(isCheap(idle) ? [] : [`an idle tab (${store})`]),
    ...tasks.filter((task) => !isDone(task)).map(({ id }) => `task ${id} (${store})`),
  ]
}

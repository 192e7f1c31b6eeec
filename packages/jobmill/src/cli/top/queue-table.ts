/** The table of queues: every number takes at most five columns, so that the table fits into 80. */
import { hasNoWorker } from '../queues/view.ts'
import type { Painted } from '../output/table.ts'
import { countText, remainingText as remaining, lasting } from '../output/wording.ts'
import { alignLeft, type Line, alignRight } from './pieces.ts'
import type { TopQueue } from './read.ts'
import { shortNumber, shortTime } from './short.ts'

interface Column {
  readonly group: string
  readonly head: string
  readonly width: number
  readonly cell: (queue: TopQueue) => string
}

const count = (head: string, width: number, of: (queue: TopQueue) => number): Column => ({
  group: '',
  head,
  width,
  cell: (queue) => shortNumber(of(queue)),
})

const share = (latency: 'waiting' | 'running', at: 'p50' | 'p95' | 'p99', group = ''): Column => ({
  group,
  head: at,
  width: 4,
  cell: ({ totals }) => shortTime(totals?.[latency][at] ?? null),
})

const COLUMNS: readonly Column[] = [
  count('ready', 5, ({ counts }) => counts.ready),
  count('run', 4, ({ counts }) => counts.running),
  count('sched', 5, ({ counts }) => counts.scheduled),
  count('dead', 4, ({ counts }) => counts.dead),
  { ...count('in', 4, ({ totals }) => totals?.perSecond.enqueued ?? 0), group: 'per sec' },
  count('out', 4, outOf),
  share('waiting', 'p50', 'waited'),
  share('waiting', 'p95'),
  share('waiting', 'p99'),
  share('running', 'p50', 'ran for'),
  share('running', 'p95'),
  share('running', 'p99'),
  { group: '', head: 'old', width: 4, cell: ({ counts }) => shortTime(counts.oldestReadyMs) },
]

const NUMBERS_WIDTH = COLUMNS.reduce((sum, { width }) => sum + width + 1, 0)
const SHORTEST_NAME = 8
/** The minimum terminal width that leaves room for the state column. */
const WIDE = 100
const STATE_WIDTH = 14

/** Jobs that ended, per second. */
function outOf({ totals }: TopQueue): number {
  if (totals === null) return 0
  const { done, dead, cancelled } = totals.perSecond
  return done + dead + cancelled
}

/** The length of the longest name, as far as there is room. */
export function nameWidth(queues: readonly TopQueue[], columns: number): number {
  const room = columns - NUMBERS_WIDTH - 2 - (columns < WIDE ? 0 : STATE_WIDTH)
  const longest = Math.max(0, ...queues.map(({ name }) => name.length))
  return Math.max(SHORTEST_NAME, Math.min(longest, room))
}

export interface Widths {
  readonly columns: number
  readonly name: number
}

export function queueHeads({ columns, name }: Widths, title: string): [Line, Line] {
  const names = name + 2
  let groups = title
  let at = names + 1
  for (const { group, width } of COLUMNS) {
    // The title of a group starts above its first column.
    if (group !== '') groups = groups.padEnd(at) + group
    at += width + 1
  }
  const heads = COLUMNS.map(({ head, width }) => ` ${alignRight(head, width)}`).join('')
  const state = columns < WIDE ? '' : '  state'
  return [
    [{ text: groups, style: 'dim' }],
    [{ text: `${alignLeft('  queue', names)}${heads}${state}`, style: 'bold' }],
  ]
}

export function queueLine(queue: TopQueue, isChosen: boolean, { columns, name: width }: Widths): Line {
  const state = stateOf(queue)
  const name = alignLeft(queue.name, width)
  const totals = COLUMNS.map(({ cell, width }) => ` ${alignRight(cell(queue), width)}`).join('')
  const word = columns < WIDE || state === null ? '' : `  ${state.text}`
  const text = `${isChosen ? '>' : ' '}${state?.mark ?? ' '}${name}${totals}${word}`
  if (isChosen) return [{ text: alignLeft(text, columns), style: 'inverse' }]
  return [state === null ? text : { text, style: 'yellow' }]
}

/** Why jobs of the queue are not claimed, as a mark and in words. */
function stateOf(queue: TopQueue): { readonly mark: string; readonly text: string } | null {
  const { paused, coolingMs, counts, isServed } = queue
  if (paused) return { mark: '=', text: 'paused' }
  if (coolingMs > 0) return { mark: '~', text: `cooling ${remaining(coolingMs)}` }
  return hasNoWorker(counts, isServed) ? { mark: '!', text: 'no worker' } : null
}

/** Details of the selected queue that have no column. */
export function queueDetail(queue: TopQueue): Line {
  const { name, workers, limit, counts } = queue
  const state = stateOf(queue)
  const pieces: (string | Painted)[] = [
    `  ${name}: `,
    ...(state === null ? ['open'] : [{ text: state.text, style: 'yellow' } as const]),
    workers === null ? '' : `, ${countText(workers, 'worker')}`,
    limit === null ? '' : `, limit ${limit}`,
    counts.oldestReadyMs === null ? '' : `, oldest ready for ${lasting(counts.oldestReadyMs)}`,
  ]
  return pieces
}

/** The first screen: queues, instances and the latest dead jobs, fitted to the height of the terminal. */
import { instanceState } from '../output/instance-style.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import { countText, fromNow, localTime, number } from '../output/wording.ts'
import { alignLeft, type Line, alignRight, shares, type Size, visiblePart } from './pieces.ts'
import { nameWidth, queueDetail, queueHeads, queueLine } from './queue-table.ts'
import type { Overview, TopInstance } from './read.ts'
import { shortNumber } from './short.ts'
import { chosenOf } from './state.ts'

/** Rows that are always present, including the last row of the screen. */
const FIXED = 11

/** `chosen` is null when nothing can be selected. */
export function overviewFrame(view: Overview, chosen: string | null, size: Size): Line[] {
  const { queues, instances, dead, at } = view
  const wants = [queues, instances, dead].map(({ length }) => Math.max(1, length))
  const [queueRows = 0, instanceRows = 0, deadRows = 0] = shares(size.rows - FIXED, wants)
  const { columns } = size
  const now = at
  return [
    ...heading(view, columns),
    [],
    ...queueLines(view, chosen, queueRows, columns),
    [],
    bold(
      `  ${alignLeft('instance', 36)} ${alignLeft('state', 8)} ${alignRight('heartbeat', 9)}  cpu   mem queues`,
    ),
    ...orNone(
      instances.slice(0, instanceRows).map((one) => instanceLine(one, now)),
      instanceRows,
      'no instances',
    ),
    [],
    bold(`  ${alignLeft('latest dead', 36)} ${alignRight('ended', 8)} ${alignLeft('queue', 12)} kind`),
    ...orNone(
      dead.slice(0, deadRows).map((job) => deadLine(job, now)),
      deadRows,
      'none',
    ),
  ]
}

function heading({ store, at, queues, instances }: Overview, columns: number): Line[] {
  const time = localTime(at)
  const sum = (state: 'ready' | 'running' | 'scheduled' | 'dead'): string =>
    `${number(queues.reduce((all, { counts }) => all + counts[state], 0))} ${state}`
  const alive = instances.filter(({ state }) => state === 'alive').length
  const lost = instances.filter(({ state }) => state === 'lost' || state === 'expired').length
  const gone = lost === 0 ? '' : ` and ${number(lost)} lost`
  return [
    [{ text: 'jobmill top', style: 'bold' }, alignLeft(`  ${store}`, columns - 12 - time.length), ` ${time}`],
    [
      `${countText(alive, 'instance')}${gone}: ${sum('ready')}, ${sum('running')}, ${sum('scheduled')}, ${sum('dead')}`,
    ],
  ]
}

function queueLines({ queues }: Overview, chosen: string | null, rows: number, columns: number): Line[] {
  const names = queues.map(({ name }) => name)
  const at = chosenOf(chosen, names)
  const { from, shown } = visiblePart(queues, at, rows)
  const part = shown.length < queues.length ? `  ${from + 1}-${from + shown.length} of ${queues.length}` : ''
  const detail = queues[at]
  const widths = { columns, name: nameWidth(queues, columns) }
  return [
    ...queueHeads(widths, part),
    ...orNone(
      shown.map((queue, row) => queueLine(queue, chosen !== null && from + row === at, widths)),
      rows,
      'no queues',
    ),
    ...(chosen === null || detail === undefined ? [[]] : [queueDetail(detail)]),
  ]
}

const MEGABYTE = 1024 * 1024

function instanceLine(instance: TopInstance, now: number): Line {
  const { id, label, renewedAt, queues, totals } = instance
  const { text, style } = instanceState(instance)
  const cpu = totals?.cpu ?? null
  const memory = totals?.rssBytes ?? null
  return [
    `  ${alignLeft(label ?? id, 36)} `,
    { text: alignLeft(text, 8), style },
    ` ${alignRight(fromNow(renewedAt, now), 9)}`,
    ` ${alignRight(cpu === null ? '-' : `${Math.round(cpu.mean * 100)}%`, 4)}`,
    ` ${alignRight(memory === null ? '-' : `${shortNumber(memory.mean / MEGABYTE)}M`, 5)}`,
    ` ${queues.join(' ')}`,
  ]
}

function deadLine({ id, endedAt, queue, kind }: JobSummary, now: number): Line {
  const ended = endedAt === null ? '-' : fromNow(endedAt, now)
  return [`  ${id} ${alignRight(ended, 8)} ${alignLeft(queue, 12)} `, { text: kind, style: 'red' }]
}

/** Keeps one row for an empty list, so that the parts below do not move. */
function orNone(lines: readonly Line[], rows: number, otherwise: string): Line[] {
  return lines.length === 0 && rows > 0 ? [[{ text: `  ${otherwise}`, style: 'dim' }]] : [...lines]
}

function bold(text: string): Line {
  return [{ text, style: 'bold' }]
}

/** Renders the rows of the screen from the data and the navigation state, without side effects. */
import type { Terminal } from '../terminal.ts'
import { helpFrame, jobFrame, jobLinesOf, jobRows, jobsIn, queueFrame } from './inner-frames.ts'
import { overviewFrame } from './overview-frame.ts'
import { type Line, lineText, type Size } from './pieces.ts'
import type { View } from './read.ts'
import { type Place, placeOf, type TopState } from './state.ts'

const KEYS = {
  queues: 'arrows select  enter jobs  p pause/resume  ? help  q quit',
  queue: 'arrows select  enter details  esc back  ? help  q quit',
  job: 'arrows scroll  esc back  ? help  q quit',
} as const

/** Whether the view belongs to this place. */
export function isOf(view: View, place: Place): boolean {
  if (view.kind === 'queue' && place.kind === 'queue') return view.queue === place.queue
  if (view.kind === 'job' && place.kind === 'job') return view.id === place.id
  return view.kind === place.kind
}

/** The selectable items, in order. */
export function itemsOf(view: View): string[] {
  if (view.kind === 'queues') return view.queues.map(({ name }) => name)
  return view.kind === 'queue' ? jobsIn(view) : jobLinesOf(view)
}

export function pageOf(size: Size): number {
  return jobRows(size)
}

/** `trouble` is an error message that replaces the last row until it is resolved. */
export function frame(
  view: View,
  state: TopState,
  trouble: string | null,
  size: Size,
  terminal: Pick<Terminal, 'paint'>,
): string[] {
  const place = placeOf(state)
  const last: Line =
    trouble === null ? [{ text: KEYS[place.kind], style: 'dim' }] : [{ text: trouble, style: 'red' }]
  const lines = linesOf(view, state, place, size).slice(0, Math.max(0, size.rows - 1))
  const blank = Array.from({ length: Math.max(0, size.rows - 1 - lines.length) }, (): Line => [])
  return [...lines, ...blank, last].map((line) => lineText(line, size.columns, terminal))
}

function linesOf(view: View, { isHelp }: TopState, place: Place, size: Size): Line[] {
  if (isHelp) return helpFrame()
  // The data of this place has not been read yet.
  if (!isOf(view, place)) return [['…']]
  if (view.kind === 'queues')
    return overviewFrame(view, place.kind === 'queues' ? (place.chosen ?? '') : '', size)
  if (view.kind === 'queue') return queueFrame(view, place.kind === 'queue' ? place.chosen : null, size)
  return jobFrame(view, place.kind === 'job' ? place.scrolled : 0, size)
}

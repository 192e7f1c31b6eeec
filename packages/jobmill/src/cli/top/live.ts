/** Runs `top` on a terminal: reads data, draws it and handles keys until the user quits. */
import { errorText } from '../../job/text/error-text.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { Terminal } from '../output/terminal.ts'
import { BY_CLI } from '../with-mill.ts'
import { helpFrame, jobFrame, jobLinesOf, jobRows, jobsIn, queueFrame } from './inner-frames.ts'
import { type Key, keysIn } from './keys.ts'
import { overviewFrame } from './overview-frame.ts'
import { type Line, lineText, type Size } from './pieces.ts'
import { overview, type View, viewOf } from './read.ts'
import { openScreen } from './screen.ts'
import { chosenOf, type Place, placeOf, pressKey, START, type TopState } from './state.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function runLive(
  mill: Mill,
  { store, everyMs }: { readonly store: string; readonly everyMs: number },
  terminal: Terminal,
): Promise<void> {
  let state = START
  // Read before switching to the full screen, so that a first error is reported like that of any command.
  let view: View = await overview(mill, store)
  let trouble: string | null = null
  const leaving = new AbortController()
  let again = new AbortController()

  const leave = (): void => {
    leaving.abort()
    again.abort()
  }
  const left = new Promise<null>((resolve) =>
    leaving.signal.addEventListener('abort', () => resolve(null), { once: true }),
  )
  const draw = (): void => screen.draw(frame(view, state, trouble, screen.size(), terminal))
  const showFailure = (what: string, error: unknown): void => {
    trouble = `${what}: ${errorText(error)}`
  }

  async function toggle(): Promise<void> {
    const place = placeOf(state)
    if (view.kind !== 'queues' || place.kind !== 'queues') return
    const queue = view.queues[chosenOf(place.chosen, itemsOf(view))]
    if (queue === undefined) return
    await (queue.paused ? mill.resume(queue.name, BY_CLI) : mill.pause(queue.name, BY_CLI))
    again.abort()
  }

  function press(key: Key): void {
    const before = placeOf(state)
    const items = isOf(view, before) ? itemsOf(view) : []
    const { state: next, act } = pressKey(state, key, items, jobRows(screen.size()))
    state = next
    if (act === 'leave') return leave()
    if (act === 'toggle')
      toggle()
        .catch((error: unknown) => showFailure('pause or resume failed', error))
        .finally(draw)
    // Another screen needs other data.
    if (!isOf(view, placeOf(state))) again.abort()
    draw()
  }

  const screen = openScreen(process.stdin, process.stdout, {
    typed: (bytes) => keysIn(bytes).forEach(press),
    resized: draw,
    gone: leave,
  })
  for (const signal of SIGNALS) process.on(signal, leave)
  try {
    while (!leaving.signal.aborted) {
      again = new AbortController()
      try {
        // Quitting must work even when the database does not answer.
        const read = await Promise.race([viewOf(mill, placeOf(state), store), left])
        if (read === null) break
        trouble = null
        // The user may have moved to another screen during the read. That screen is then read at once.
        if (isOf(read, placeOf(state))) view = read
      } catch (error) {
        showFailure('retrying', error)
      }
      draw()
      await sleep(systemPlatform, everyMs, again.signal)
    }
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave)
    screen.close()
  }
}

const KEYS = {
  queues: 'arrows select  enter jobs  p pause/resume  ? help  q quit',
  queue: 'arrows select  enter details  esc back  ? help  q quit',
  job: 'arrows scroll  esc back  ? help  q quit',
} as const

/** Whether the view belongs to this place. */
function isOf(view: View, place: Place): boolean {
  if (view.kind === 'queue' && place.kind === 'queue') return view.queue === place.queue
  if (view.kind === 'job' && place.kind === 'job') return view.id === place.id
  return view.kind === place.kind
}

/** The selectable items, in order. */
export function itemsOf(view: View): string[] {
  if (view.kind === 'queues') return view.queues.map(({ name }) => name)
  return view.kind === 'queue' ? jobsIn(view) : jobLinesOf(view)
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

/**
 * Delivers events to listeners in a later event-loop turn, so that no listener runs inside the code that
 * emits. Errors of listeners are counted and ignored. When listeners are slower than the work, events are
 * dropped and counted instead of buffered without bound.
 */
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit, EventTable, EventType, MillEvent } from '../job/events.ts'
import { checkString } from '../job/names.ts'
import { checkFunction } from '../job/numbers.ts'
import type { Platform } from '../platform/platform.ts'
import { checkEventType } from './event-types.ts'
import { whenRejected } from './log/logger.ts'

export type Listener<Type extends EventType = EventType> = (event: MillEvent<Type>) => unknown

/**
 * Called synchronously inside `emit`, before all listeners: for consumers that must see every event and cost
 * almost nothing.
 */
export type Tap = <Type extends EventType>(type: Type, event: EventTable[Type]) => void

export interface EventCounts {
  /** Events dropped because too many were buffered. */
  readonly dropped: number
  /** How many errors listeners threw, or rejected their promises with. */
  readonly errors: number
  /** How often each event type happened in this process, with or without listeners. */
  readonly emitted: Readonly<Partial<Record<EventType, number>>>
}

export type EventHub = ReturnType<typeof eventHub>

/** The number of events delivered per event-loop turn. */
const PER_TURN = 200

export function eventHub(platform: Platform, limit: number = DEFAULTS.eventBuffer) {
  const listeners = new Map<EventType | '*', Set<Listener<never>>>()
  const emitted: Partial<Record<EventType, number>> = {}
  const taps: Tap[] = []
  const counts = { dropped: 0, errors: 0, emitted }
  const waiting: MillEvent[] = []
  let awaited: (() => void)[] = []
  let scheduled = false
  let listening = 0

  const hasListener = (type: EventType): boolean =>
    (listeners.get(type)?.size ?? 0) > 0 || (listeners.get('*')?.size ?? 0) > 0

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    platform.nextTurn(deliver)
  }

  function deliver(): void {
    scheduled = false
    for (const event of waiting.splice(0, PER_TURN)) {
      for (const listener of listeners.get(event.type) ?? []) call(listener, event)
      for (const listener of listeners.get('*') ?? []) call(listener, event)
    }
    if (waiting.length > 0) return schedule()
    const done = awaited
    awaited = []
    for (const resolve of done) resolve()
  }

  const failed = (): void => void (counts.errors += 1)

  function call(listener: Listener<never>, event: MillEvent): void {
    try {
      whenRejected(listener(event as never), failed)
    } catch {
      failed()
    }
  }

  const tapped: Tap = (type, event) => {
    for (const tap of taps) {
      try {
        tap(type, event)
      } catch {
        counts.errors += 1
      }
    }
  }

  const emit: Emit = (type, event) => {
    emitted[type] = (emitted[type] ?? 0) + 1
    tapped(type, event)
    // Checked for every job, and most processes have no listener.
    if (listening === 0 || !hasListener(type)) return
    if (waiting.length >= limit) counts.dropped += 1
    else waiting.push({ ...event, type, at: platform.now() } as unknown as MillEvent)
    schedule()
  }

  return {
    counts: counts as EventCounts,
    emit,
    tap: (tap: Tap) => void taps.push(tap),
    /** `'*'` for all events. Returns a function that unsubscribes. */
    on: <Type extends EventType>(type: Type | '*', listener: Listener<Type>): (() => void) => {
      checkString(type, 'type', "Pass the name of an event such as 'finished', or '*'")
      checkEventType(type)
      checkFunction(listener, 'listener', 'Pass a function that takes the event')
      const set = listeners.get(type) ?? new Set()
      listeners.set(type, set)
      // Wrapped, so that a listener registered twice is called twice and removed one at a time.
      const own: Listener<never> = (event) => listener(event)
      set.add(own)
      listening += 1
      return () => {
        if (set.delete(own)) listening -= 1
      }
    },
    /** Resolves when everything emitted so far was delivered. */
    delivered: (): Promise<void> => {
      if (waiting.length === 0 && !scheduled) return Promise.resolve()
      return new Promise((resolve) => awaited.push(resolve))
    },
  }
}

/** Relative times, with the absolute time as a tooltip. All of them update together, once a second. */
import { useSyncExternalStore } from 'react'
import { serverNow } from '../../api/clock.ts'
import { ago, instant, moment, roughlyAgo, span } from './format.ts'
import { Tip } from '../overlays/tip.tsx'

const listeners = new Set<() => void>()
let now = serverNow()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = serverNow()
    for (const one of listeners) one()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The server's time, in whole seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** "5 s ago", "in 3 min"; a dash when the time is null. */
export function Ago({ at, otherwise = '–' }: { readonly at: number | null; readonly otherwise?: string }) {
  const time = useNow()
  if (at === null) return <span className="text-soft">{otherwise}</span>
  return <Stamp at={at} text={ago(at, time)} />
}

/** "12 min ago": without seconds, for tables. */
export function RoughlyAgo({ at }: { readonly at: number | null }) {
  const time = useNow()
  return at === null ? <span className="text-soft">–</span> : <Stamp at={at} text={roughlyAgo(at, time)} />
}

/** "02:11:58" */
export function Moment({ at }: { readonly at: number }) {
  return <Stamp at={at} text={moment(at)} />
}

function Stamp({ at, text }: { readonly at: number; readonly text: string }) {
  return (
    <Tip text={instant(at)}>
      <time dateTime={new Date(at).toISOString()} className="whitespace-nowrap tabular-nums">
        {text}
      </time>
    </Tip>
  )
}

/** Counts down to a time; shows "any moment" once it has passed. */
export function Countdown({ until }: { readonly until: number }) {
  const time = useNow()
  if (until <= time) return <span className="tabular-nums">any moment</span>
  return <Stamp at={until} text={span(Math.ceil((until - time) / 1_000) * 1_000)} />
}

/**
 * Keeps what is shown fresh. The server tells when something changed; then everything on the page is asked for again, at most as often as
 * whoever looks has chosen. Where the stream does not come through, the page asks without being told.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { addressOf, authorized } from './client.ts'
import { kept } from './kept.ts'

export const PACES = [0, 1, 2, 5, 10] as const
export type Pace = (typeof PACES)[number]

/** In seconds; 0 for never. */
export const pace = kept<Pace>('pace', 2, (value) => PACES.includes(value as Pace))

export function usePace(): Pace {
  return useSyncExternalStore(pace.subscribe, pace.get)
}

/** Not everything that changes is told: how far a job is, how old something has become. */
const UNTOLD_TICKS = 3

export function useLive(): void {
  const client = useQueryClient()
  const seconds = usePace()
  useEffect(() => {
    if (seconds === 0) return undefined
    const ending = new AbortController()
    let isFresh = false
    let isTold = false
    let ticks = 0
    void listen(ending.signal, (told) => {
      isTold = told
      isFresh = false
    })
    const timer = setInterval(() => {
      ticks += 1
      if (document.hidden || (isTold && isFresh && ticks % UNTOLD_TICKS !== 0)) return
      isFresh = true
      void client.invalidateQueries({ refetchType: 'active' }, { cancelRefetch: false })
    }, seconds * 1_000)
    return () => {
      ending.abort()
      clearInterval(timer)
    }
  }, [client, seconds])
}

const AGAIN_MS = 3_000

/** `changed(true)` whenever the server tells something, `changed(false)` when it cannot be heard. Comes back until it is ended. */
async function listen(signal: AbortSignal, changed: (isTold: boolean) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      // Not an EventSource: that cannot say who it is.
      const response = await fetch(addressOf('events'), { headers: authorized(), signal })
      if (response.status === 401 || response.status === 403) return
      const reader = response.ok ? response.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined
      for (;;) {
        const { done = true, value = '' } = (await reader?.read()) ?? {}
        if (done) break
        if (value.includes('event:')) changed(true)
      }
    } catch {
      // Gone, or we left: told below.
    }
    if (signal.aborted) return
    changed(false)
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

/**
 * Keeps the data on screen fresh. When the server reports a change, every active query is refetched, at most
 * as often as the user chose and its data changes. If the event stream is unavailable, the dashboard polls.
 */
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { addressOf, authHeaders } from '../client.ts'
import { watchPresence } from './away.ts'
import { isDue } from './pace.ts'
import { preference } from '../user/preference.ts'

export const PACES = [0, 1, 2, 5, 10] as const
export type Pace = (typeof PACES)[number]

/** The refresh interval in seconds; 0 turns refreshing off. */
export const pace = preference<Pace>('pace', 2, (value) => PACES.includes(value as Pace))

export function usePace(): Pace {
  return useSyncExternalStore(pace.subscribe, pace.get)
}

/** Some changes are not reported, such as progress and ages, so refetch at least this often. */
const IDLE_TICKS = 3
/**
 * While the user is away, the page refreshes less often, without the event stream, for which the server reads
 * every second: an open tab must cost it little.
 */
const AWAY_SECONDS = 10

export function useLive(): void {
  const client = useQueryClient()
  const seconds = usePace()
  useEffect(() => {
    if (seconds === 0) return undefined
    const presence = watchPresence()
    const awayTicks = Math.max(1, Math.round(AWAY_SECONDS / seconds))
    let stream: AbortController | null = null
    let isFresh = false
    let isConnected = false
    let ticks = 0
    function follow(isWanted: boolean): void {
      if (isWanted === (stream !== null)) return
      stream?.abort()
      stream = isWanted ? new AbortController() : null
      isConnected = false
      if (stream === null) return
      void listen(stream.signal, (connected) => {
        isConnected = connected
        isFresh = false
      })
    }
    follow(true)
    const timer = setInterval(() => {
      ticks += 1
      const isAway = presence.isAway()
      follow(!isAway)
      if (document.hidden || (isAway && ticks % awayTicks !== 0)) return
      if (isConnected && isFresh && ticks % IDLE_TICKS !== 0) return
      isFresh = true
      const now = Date.now()
      const filters = { refetchType: 'active', predicate: (query: Query) => isDue(query, now) } as const
      void client.invalidateQueries(filters, { cancelRefetch: false })
    }, seconds * 1_000)
    return () => {
      follow(false)
      presence.stop()
      clearInterval(timer)
    }
  }, [client, seconds])
}

const AGAIN_MS = 3_000

/**
 * Calls `changed(true)` for every report of the server and `changed(false)` when the stream is lost.
 * Reconnects until the signal fires or the server denies access.
 */
async function listen(signal: AbortSignal, changed: (isConnected: boolean) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      // An EventSource cannot send an authorization header, so use fetch.
      const response = await fetch(addressOf('events'), { headers: authHeaders(), signal })
      if (response.status === 401 || response.status === 403) return
      const reader = response.ok ? response.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined
      for (;;) {
        const { done = true, value = '' } = (await reader?.read()) ?? {}
        if (done) break
        if (value.includes('event:')) changed(true)
      }
    } catch {
      // The connection was lost, or this function was stopped; both are handled below.
    }
    if (signal.aborted) return
    changed(false)
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

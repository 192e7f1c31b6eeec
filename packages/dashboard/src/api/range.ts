/**
 * The time range of the charts: a preset that ends now, or a range that was zoomed to. It is part of the
 * URL so that links can be shared.
 */
import { useSearchParams } from 'wouter'
import { serverNow } from './clock.ts'

export const PRESETS = {
  '5m': 5 * 60_000,
  '15m': 15 * 60_000,
  '1h': 60 * 60_000,
  '6h': 6 * 60 * 60_000,
  '24h': 24 * 60 * 60_000,
  '7d': 7 * 24 * 60 * 60_000,
  '30d': 30 * 24 * 60 * 60_000,
} as const
export type Preset = keyof typeof PRESETS

export interface Range {
  /** Null for a zoomed range. */
  readonly preset: Preset | null
  /** Start and end, as of now. */
  readonly ends: () => { readonly from: number; readonly to: number }
  /** Cache key: equal ranges have equal keys. */
  readonly key: string
}

const isPreset = (text: string | null): text is Preset => text !== null && Object.hasOwn(PRESETS, text)

/** The latest and earliest times that a Date can hold. */
const LAST_AT = 8_640_000_000_000_000
const isInstant = (at: number): boolean => Number.isSafeInteger(at) && Math.abs(at) < LAST_AT

export function rangeOf(search: URLSearchParams, otherwise: Preset = '1h'): Range {
  const from = Number(search.get('from') ?? Number.NaN)
  const to = Number(search.get('to') ?? Number.NaN)
  if (isInstant(from) && isInstant(to) && from < to)
    return { preset: null, ends: () => ({ from, to }), key: `${from}-${to}` }
  const asked = search.get('range')
  const preset = isPreset(asked) ? asked : otherwise
  return {
    preset,
    ends() {
      const now = serverNow()
      return { from: now - PRESETS[preset], to: now }
    },
    key: preset,
  }
}

export interface Ranging {
  readonly range: Range
  readonly choose: (preset: Preset) => void
  readonly zoom: (from: number, to: number) => void
  /** Returns from a zoomed range to the preset before it. */
  readonly leave: () => void
}

/**
 * The shortest range that can be zoomed to. The finest buckets are 10 s wide, so a shorter range would show
 * few points.
 */
const SHORTEST_MS = 60_000

export function useRange(otherwise: Preset = '1h'): Ranging {
  const [search, setSearch] = useSearchParams()
  const write = (values: Readonly<Record<string, string | null>>): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before)
      for (const [key, value] of Object.entries(values)) {
        if (value === null) next.delete(key)
        else next.set(key, value)
      }
      return next
    })
  return {
    range: rangeOf(search, otherwise),
    choose: (preset) => write({ range: preset, from: null, to: null }),
    zoom(from, to) {
      // Keep the preset in the URL, so that resetting the zoom can return to it.
      const wider = Math.max(0, SHORTEST_MS - (to - from)) / 2
      write({ from: String(Math.floor(from - wider)), to: String(Math.ceil(to + wider)) })
    },
    leave: () => write({ from: null, to: null }),
  }
}

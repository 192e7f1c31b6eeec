/** The resource gauges. A gauge that the store does not report is omitted. */
import type { Resources } from '../../../api/types.ts'
import { milliseconds } from '../../../metrics/units.ts'
import { bytes, number } from '../../../kit/text/format.ts'

export interface Gauge {
  readonly name: string
  readonly value: string
  /** What the value is measured against, or its scope. */
  readonly note: string
  /** The resource is nearly exhausted. */
  readonly isLow: boolean
  readonly values: readonly number[]
}

interface Kind {
  readonly name: string
  readonly read: (sample: Resources) => number | null | undefined
  readonly text: (value: number) => string
  readonly note: (sample: Resources) => string
  readonly isLow?: (sample: Resources) => boolean
}

const KINDS: readonly Kind[] = [
  {
    name: 'Database size',
    read: ({ database }) => database?.sizeBytes,
    text: bytes,
    note: ({ database }) => (database?.disk === null ? 'whole database' : 'SQLite file'),
  },
  {
    name: 'Write-ahead log',
    read: ({ database }) => database?.walBytes,
    text: bytes,
    note: ({ database }) => (database?.disk === null ? 'whole server' : 'next to the SQLite file'),
  },
  {
    name: 'Disk free',
    read: ({ database }) => database?.disk?.freeBytes,
    text: bytes,
    note: ({ database }) => `of ${bytes(database?.disk?.totalBytes ?? 0)}`,
    isLow: ({ database }) => {
      const { freeBytes, totalBytes } = database?.disk ?? { freeBytes: 1, totalBytes: 1 }
      return freeBytes < totalBytes / 10
    },
  },
  {
    name: 'Server connections',
    read: ({ database }) => database?.server?.connections,
    text: number,
    note: ({ database }) => `of ${number(database?.server?.most ?? 0)}`,
    isLow: ({ database }) => {
      const { connections, most } = database?.server ?? { connections: 0, most: 1 }
      return connections > most * 0.9
    },
  },
  {
    name: 'Pool in use',
    read: ({ database }) => database?.pool?.busy,
    text: number,
    note: ({ database }) =>
      `of ${number(database?.pool?.open ?? 0)} open, ${number(database?.pool?.waiting ?? 0)} waiting`,
    isLow: ({ database }) => (database?.pool?.waiting ?? 0) > 0,
  },
  {
    name: 'Memory',
    read: ({ process }) => process.rssBytes,
    text: bytes,
    note: () => 'this process',
  },
  {
    name: 'Event-loop lag',
    read: ({ process }) => process.loopLagMs?.mean,
    text: milliseconds,
    note: ({ process }) => `max ${milliseconds(process.loopLagMs?.most ?? 0)}`,
  },
]

export function gaugesOf(samples: readonly Resources[]): Gauge[] {
  const newest = samples.at(-1)
  if (newest === undefined) return []
  return KINDS.flatMap(({ name, read, text, note, isLow }) => {
    const value = read(newest) ?? null
    if (value === null) return []
    const values = samples.flatMap((sample) => read(sample) ?? [])
    return [{ name, value: text(value), note: note(newest), isLow: isLow?.(newest) ?? false, values }]
  })
}

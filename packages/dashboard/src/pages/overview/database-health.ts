/** What the overview says about the database. */
import type { System } from '../../api/types.ts'
import { bytes, plural, span } from '../../kit/text/format.ts'
import type { Gauge } from './resources/gauges.ts'

type Health = Pick<System, 'database' | 'migrations'>

/** Each in a few words; the System page explains them. */
export function databaseProblems({ database, migrations }: Health, gauges: readonly Gauge[]): string[] {
  const pinned = database?.pinned.length ?? 0
  const pending = migrations?.pending.length ?? 0
  return [
    ...(pinned === 0 ? [] : [`${plural(pinned, 'session')} ${pinned === 1 ? 'holds' : 'hold'} back vacuum`]),
    ...(pending === 0 ? [] : [plural(pending, 'pending migration')]),
    ...gauges.filter(({ isLow }) => isLow).map(gaugeText),
  ]
}

/** "PostgreSQL 18.1", "412 MiB", "reads p95 1.2 ms", "14 of 100 connections" */
export function databaseFacts(
  { store, database, storeTimings }: Pick<System, 'store' | 'database' | 'storeTimings'>,
  gauges: readonly Gauge[],
): string[] {
  const connections = gauges.find(({ name, isLow }) => name === 'Server connections' && !isLow)
  return [
    database?.server ?? store,
    ...(database === null ? [] : [bytes(database.sizeBytes)]),
    ...(['read', 'write'] as const).flatMap((name) => {
      const { p95 } = storeTimings[name]
      return p95 === null ? [] : [`${name}s p95 ${span(p95)}`]
    }),
    ...(connections === undefined ? [] : [gaugeText(connections)]),
  ]
}

/** "Server connections 14 of 100" */
const gaugeText = ({ name, value, note }: Gauge): string => `${name.toLowerCase()} ${value} ${note}`

/** versions: the versions that instances declared. */
import { instanceState, type VersionRecord } from 'jobmill/store'
import type { OracleState } from '../state.ts'

const MOST = 100

/** The version of an instance, even of one that retention deleted. */
export function versionOf(state: OracleState, instance: string | null | undefined): string | null {
  if (instance === null || instance === undefined) return null
  return state.instances.get(instance)?.version ?? state.pastInstances.get(instance)?.version ?? null
}

export function versions(state: OracleState): VersionRecord[] {
  const known = [...state.instances.values()].flatMap((instance) => {
    const { version, startedAt, renewedAt, endedAt } = instance
    if (version === null) return []
    const isAlive = instanceState(instance, state.now) === 'alive'
    return [{ version, startedAt, lastAt: isAlive ? state.now : (endedAt ?? renewedAt), isAlive }]
  })
  const past = [...state.pastInstances]
    .filter(([id]) => !state.instances.has(id))
    .map(([, { endedAt, ...instance }]) => ({ ...instance, lastAt: endedAt, isAlive: false }))
  return [...Map.groupBy([...known, ...past], ({ version }) => version)]
    .map(([version, instances]) => ({
      version,
      firstAt: Math.min(...instances.map(({ startedAt }) => startedAt)),
      lastAt: Math.max(...instances.map(({ lastAt }) => lastAt)),
      instances: instances.length,
      alive: instances.filter(({ isAlive }) => isAlive).length,
    }))
    .toSorted((a, b) => b.firstAt - a.firstAt || (a.version < b.version ? 1 : -1))
    .slice(0, MOST)
}

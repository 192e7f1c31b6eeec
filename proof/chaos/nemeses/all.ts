/** Everything that may strike while a stream of jobs goes on. The start of many at once and the power cut have scenes of their own. */
import type { Nemesis, StoreName } from '../scene.ts'
import { diskFull } from './disk-full.ts'
import { netBlackhole, netCut } from './network.ts'
import { clockStep, kill, stopCont, term } from './processes.ts'
import { pgFailover, pgRestart, pgTerminate, poolExhaustion, xminPin } from './server.ts'

export const NEMESES: readonly Nemesis[] = [
  kill,
  stopCont,
  term,
  clockStep,
  pgRestart,
  pgTerminate,
  pgFailover,
  netCut,
  netBlackhole,
  poolExhaustion,
  diskFull,
  xminPin,
]

export const START_STORM = 'start-storm'
export const POWER_CUT = 'power-cut'

/** Where each of them can strike. */
export function strikes(name: string, store: StoreName): boolean {
  if (name === POWER_CUT) return store === 'sqlite'
  return name === START_STORM || NEMESES.some((one) => one.name === name && one.stores.includes(store))
}

export const NAMES: readonly string[] = [...NEMESES.map(({ name }) => name), START_STORM, POWER_CUT]

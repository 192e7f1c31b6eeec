/**
 * All nemeses that strike under a steady stream of jobs. Those in SCENES below have their own scenes.
 */
import type { Nemesis, StoreName } from '../scene.ts'
import { diskFull } from './disk-full.ts'
import { netBlackhole, netCut } from './network.ts'
import { oddErrors } from './odd-errors.ts'
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
  oddErrors,
]

export const START_STORM = 'start-storm'
export const POWER_CUT = 'power-cut'
export const ASYNC_FAILOVER = 'async-failover'
export const FAILOVER_SYNC = 'failover-sync'
export const RESTORED_BACKUP = 'restored-backup'
export const OUTAGES = 'outages'
export const ROLLING_DEPLOY = 'rolling-deploy'
export const STEPS = 'steps'

/** The nemeses with their own scene, and their stores. */
const SCENES: Readonly<Record<string, readonly StoreName[]>> = {
  [START_STORM]: ['postgres', 'sqlite'],
  [POWER_CUT]: ['sqlite'],
  [ASYNC_FAILOVER]: ['postgres'],
  [FAILOVER_SYNC]: ['postgres'],
  [RESTORED_BACKUP]: ['postgres', 'sqlite'],
  [OUTAGES]: ['postgres'],
  [ROLLING_DEPLOY]: ['postgres', 'sqlite'],
  [STEPS]: ['postgres', 'sqlite'],
}

/** Whether a nemesis applies to a store. */
export function strikes(name: string, store: StoreName): boolean {
  return (
    SCENES[name]?.includes(store) === true ||
    NEMESES.some((one) => one.name === name && one.stores.includes(store))
  )
}

export const NAMES: readonly string[] = [...NEMESES.map(({ name }) => name), ...Object.keys(SCENES)]

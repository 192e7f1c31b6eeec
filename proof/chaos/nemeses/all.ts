/** Everything that may strike while a stream of jobs goes on. The start of many at once and the power cut have scenes of their own. */
import type { Nemesis } from '../scene.ts'
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

export const NAMES: readonly string[] = [...NEMESES.map(({ name }) => name), START_STORM, POWER_CUT]

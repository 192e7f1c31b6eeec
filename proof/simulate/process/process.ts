/** One simulated process: the real runtime on its own platform and network connection. */
import { jobmill, type AnyJob, type Mill, type MillOptions, type FullStore } from 'jobmill'
import type { Chance } from '../chance.ts'
import { type Line, network, type Weather } from './network.ts'
import { processPlatform, type ProcessPlatform } from './process-platform.ts'
import type { Recorder } from '../recorder.ts'
import type { Owner, World } from '../world.ts'

export interface SimulatedProcess {
  readonly owner: Owner
  readonly mill: Mill
  readonly line: Line
  readonly platform: ProcessPlatform
}

export interface ProcessOptions {
  readonly world: World
  readonly store: FullStore<never>
  readonly recorder: Recorder
  readonly chance: Chance
  readonly weather: Weather
  readonly name: string
  /** Its jobs, which wait by the timers of the process. */
  readonly jobs: (process: Pick<SimulatedProcess, 'owner' | 'platform'>) => readonly AnyJob[]
  readonly settings: Pick<MillOptions, 'queues' | 'serve' | 'limits' | 'retain' | 'schedules'>
}

export function simulatedProcess(options: ProcessOptions): SimulatedProcess {
  const { world, store, recorder, chance, weather, name } = options
  const owner: Owner = { name, state: 'alive', awakeSince: world.now() }
  const platform = processPlatform(world, owner, chance.fork())
  const { arrived } = recorder
  const line = network({ world, chance: chance.fork(), weather, owner, store, arrived })
  const mill = jobmill({
    ...options.settings,
    store: line.store,
    jobs: options.jobs({ owner, platform }),
    platform,
    log: 'silent',
    env: {},
  })
  return { owner, mill, line, platform }
}

// Records what Jobmill opens and Node does not show: mills, SQLite handles (those in memory have no file),
// gauges, and the timers of test clocks. It wraps the modules that create them.
import type * as gauges from '../../../packages/jobmill/src/platform/gauges.ts'
import type * as life from '../../../packages/jobmill/src/runtime/lifecycle.ts'
import type * as connection from '../../../packages/jobmill/src/store-sqlite/connection/connection.ts'
import { expect } from 'vitest'
import { watch } from './things.ts'

/** The instances of mills that have started and stopped, each with the name of its test. */
export const stopped = new Map<string, string>()

type Platform = life.LifecycleOptions['options']['platform']
const started = new Map<Platform, number>()

function watchClock(platform: Platform): void {
  if (started.has(platform) || !('pendingTimers' in platform)) return
  const clock = platform as Platform & { readonly pendingTimers: number }
  watch(
    'test clock',
    () => started.get(platform) === 0 && clock.pendingTimers > 0,
    () => `${clock.pendingTimers} timers, with all its mills stopped`,
  )
}

export function watchedLife(real: typeof life): typeof life {
  return {
    ...real,
    createLifecycle(options) {
      const { platform } = options.options
      const count = (by: number): void => void started.set(platform, (started.get(platform) ?? 0) + by)
      let isStarted = false
      const made = real.createLifecycle(options)
      const over = (): void => {
        if (isStarted) count(-1)
        isStarted = false
      }
      // Return the promises of the mill itself: an extra turn would change what a test observes.
      const watched: Partial<life.Lifecycle> = {
        start() {
          if (!isStarted) {
            isStarted = true
            watchClock(platform)
            count(1)
            watch(
              'mill',
              () => isStarted,
              () => `${options.instance.id}, started and not stopped`,
            )
          }
          const starting = made.start()
          starting.catch(over)
          return starting
        },
        stop(how) {
          const stopping = made.stop(how)
          stopping.then(
            () => {
              if (isStarted) stopped.set(options.instance.id, expect.getState().currentTestName ?? 'no test')
              over()
            },
            () => {},
          )
          return stopping
        },
      }
      const parts = {
        ...Object.getOwnPropertyDescriptors(made),
        ...Object.getOwnPropertyDescriptors(watched),
      }
      return Object.defineProperties({}, parts) as life.Lifecycle
    },
  }
}

export function watchedConnection(real: typeof connection): typeof connection {
  return {
    ...real,
    openConnection(path, durability, options) {
      const handle = real.openConnection(path, durability, options)
      watch(
        'SQLite handle',
        () => handle.open === true,
        () => path,
      )
      return handle
    },
  }
}

export function watchedGauges(real: typeof gauges): typeof gauges {
  return {
    ...real,
    systemGauges() {
      const made = real.systemGauges()
      let isOn = true
      watch(
        'gauge',
        () => isOn,
        () => 'of the event loop',
      )
      return {
        ...made,
        stop() {
          isOn = false
          made.stop()
        },
      }
    },
  }
}

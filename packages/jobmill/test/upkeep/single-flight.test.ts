// A pass that never overlaps itself, and is never asked for in vain.
import { describe, expect, test } from 'vitest'
import { singleFlight } from '../../src/upkeep/single-flight.ts'
import { microtasks } from '../work/leases.ts'

/** A pass that ends when the test says so. */
function gated() {
  const passes: PromiseWithResolvers<void>[] = []
  const flight = singleFlight(() => {
    const pass = Promise.withResolvers<void>()
    passes.push(pass)
    return pass.promise
  })
  return { passes, flight }
}

describe('a single flight', () => {
  test('runs when it is asked for, and again when it is asked for again', async () => {
    const { passes, flight } = gated()
    expect(passes).toHaveLength(0)
    flight.run()
    passes[0]?.resolve()
    await microtasks(10)
    flight.run()
    expect(passes).toHaveLength(2)
  })

  test('asked for while it runs, runs once more afterwards, however often that was', async () => {
    const { passes, flight } = gated()
    flight.run()
    flight.run()
    flight.run()
    expect(passes).toHaveLength(1)
    flight.run()
    passes[0]?.resolve()
    await microtasks(10)
    expect(passes).toHaveLength(2)
    passes[1]?.resolve()
    await microtasks(10)
    expect(passes).toHaveLength(2)
  })

  test('asked for at whatever moment around its end, runs once more', async () => {
    for (let moment = 0; moment < 12; moment += 1) {
      const { passes, flight } = gated()
      flight.run()
      passes[0]?.resolve()
      await microtasks(moment)
      flight.run()
      await microtasks(20)
      expect(passes.length, `asked for ${moment} microtasks after its end`).toBe(2)
    }
  })

  test('stopped, waits for the pass that runs, and begins none any more', async () => {
    const { passes, flight } = gated()
    flight.run()
    flight.run()
    let stopped = false
    const stopping = flight.stop().then(() => (stopped = true))
    flight.run()
    await microtasks(10)
    expect(stopped).toBe(false)
    passes[0]?.resolve()
    await stopping
    flight.run()
    await microtasks(10)
    expect(passes).toHaveLength(1)
  })

  test('is stopped at once when it does not run', async () => {
    await gated().flight.stop()
    const { passes, flight } = gated()
    flight.run()
    passes[0]?.resolve()
    await flight.stop()
    expect(passes).toHaveLength(1)
  })
})
